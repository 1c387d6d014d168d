//! The features that a job asks for: `ib&bigmem`, `v100|a100`.

/// A constraint: one of several lists of features.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constraint {
    /// A node needs all features of one of these.
    alternatives: Vec<Vec<String>>,
}

impl Constraint {
    /// Reads a constraint as Slurm writes it. `&` binds more than `|`. Brackets, which ask for nodes of one kind or for counts of
    /// nodes, are read as parentheses without effect.
    pub fn parse(text: &str) -> Constraint {
        let plain: String = text.chars().filter(|c| !matches!(c, '[' | ']' | '(' | ')' | ' ')).collect();
        let features = |list: &str| list.split(['&', ',']).map(without_count).filter(|name| !name.is_empty()).collect();
        Constraint { alternatives: plain.split('|').map(features).collect() }
    }

    /// Whether a node with these features is wanted.
    pub fn holds_for(&self, features: &[String]) -> bool {
        self.alternatives.iter().any(|all| all.iter().all(|feature| features.contains(feature)))
    }
}

/// `rack1*4` asks for four nodes with `rack1`.
fn without_count(feature: &str) -> String {
    feature.split('*').next().unwrap_or(feature).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_needs_all_features_of_one_alternative() {
        let has = |text: &str, features: &[&str]| {
            Constraint::parse(text).holds_for(&features.iter().map(|name| name.to_string()).collect::<Vec<_>>())
        };
        assert!(has("", &[]) && has("ib", &["ib", "big"]) && !has("ib", &["big"]));
        assert!(has("ib&big", &["ib", "big"]) && !has("ib&big", &["ib"]));
        assert!(has("v100|a100", &["a100"]) && !has("v100|a100", &["ib"]));
        assert!(has("[rack1*4|rack2]", &["rack1"]) && has("ib&v100|a100", &["a100"]));
    }
}
