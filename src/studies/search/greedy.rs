//! The greedy search (Smith et al., section 2.4): starts with the template of all jobs, adds the best one with one
//! characteristic, then the best with two, and so on.

use super::judge::Judge;
use super::search_run::{FoundSet, SearchLimits, SearchRun, SearchStep, best_of};
use super::space::TemplateSpace;
use crate::predict::templates::{CategoryEstimate, Data, Template};

/// Searches for each estimate (mean and regression, absolute and relative) separately, first without node ranges and
/// then with them, like the paper's curves. Returns the best set of all steps. None if a limit was reached before any
/// set was evaluated.
pub fn greedy(
    judge: &Judge<'_>,
    space: &TemplateSpace,
    limits: &SearchLimits<'_>,
    watch: &dyn Fn(&SearchStep),
) -> Option<FoundSet> {
    let mut search = SearchRun::new(judge, limits, watch);
    for ranges in [&[], &space.ranges[..]] {
        for method in [CategoryEstimate::Mean, CategoryEstimate::Regression] {
            for data in [Data::Actual, Data::Relative] {
                if data == Data::Relative && !space.relative {
                    continue;
                }
                let estimate = Template { method, data, ..Template::default() };
                if climb(&mut search, space, ranges, estimate).is_none() {
                    return search.finish(true);
                }
            }
        }
        if space.ranges.is_empty() {
            break;
        }
    }
    search.finish(false)
}

/// One greedy search. None if a limit was reached.
fn climb(search: &mut SearchRun<'_>, space: &TemplateSpace, ranges: &[u32], estimate: Template) -> Option<()> {
    let name = name(estimate, !ranges.is_empty());
    let mut set = vec![estimate];
    let scores = search.judge(&[set.clone()])?;
    search.step(&name, 0, &[set.clone()], &scores);
    for count in 1..=space.fields.len() + usize::from(!ranges.is_empty()) {
        let candidates: Vec<Vec<Template>> = templates_with(count, space, ranges, estimate)
            .into_iter()
            .map(|template| set.iter().copied().chain([template]).collect())
            .collect();
        let scores = search.judge(&candidates)?;
        search.step(&name, count, &candidates, &scores);
        set.clone_from(&candidates[best_of(&scores)]);
    }
    Some(())
}

fn name(estimate: Template, ranges: bool) -> String {
    let method = if estimate.method == CategoryEstimate::Mean { "mean" } else { "lr" };
    let data = if estimate.data == Data::Actual { "act" } else { "rel" };
    format!("{method},{data}{}", if ranges { " with node ranges" } else { "" })
}

/// All templates with `count` characteristics. A node range of any size is one characteristic.
fn templates_with(count: usize, space: &TemplateSpace, ranges: &[u32], estimate: Template) -> Vec<Template> {
    let mut made = Vec::new();
    for subset in 0u32..1 << space.fields.len() {
        let mut template = estimate;
        let chosen = space.fields.iter().enumerate().filter(|(at, _)| subset >> at & 1 == 1);
        chosen.for_each(|(_, field)| field.enable(&mut template));
        let fields = subset.count_ones() as usize;
        if fields == count {
            made.push(template);
        }
        if fields + 1 == count {
            made.extend(ranges.iter().map(|&size| Template { nodes: Some(size), ..template }));
        }
    }
    made
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::space::TemplateField;

    #[test]
    fn candidates_have_the_number_of_characteristics_asked_for() {
        let space = TemplateSpace {
            fields: vec![TemplateField::User, TemplateField::Executable, TemplateField::Queue],
            ranges: vec![1, 2],
            relative: false,
            histories: false,
        };
        let print = |count, ranges: &[u32]| -> Vec<String> {
            templates_with(count, &space, ranges, Template::default()).iter().map(Template::to_string).collect()
        };
        assert_eq!(print(2, &[]), ["(u,e)", "(u,q)", "(e,q)"]);
        assert_eq!(print(1, &[1, 2]), ["(n=1)", "(n=2)", "(u)", "(e)", "(q)"]);
        assert_eq!(print(4, &[1, 2]), ["(u,e,q,n=1)", "(u,e,q,n=2)"]);
        // All choices of `count` of the three fields, and two range sizes for each choice of `count - 1` fields.
        assert_eq!((1..=4).map(|count| print(count, &[1, 2]).len()).collect::<Vec<_>>(), [5, 9, 7, 2]);
    }
}
