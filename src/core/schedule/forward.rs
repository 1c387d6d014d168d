//! Methods of policies that only ask another policy, or a part with the same methods.

/// These methods of a [`Policy`](super::Policy) call the same method of this part, such as
/// `forward_policy!(self.part: on_begin, on_arrival);`.
#[macro_export]
macro_rules! forward_policy {
    ($this:ident.$part:ident: $($method:ident),+) => {
        $($crate::forward_policy!(@$method $this.$part);)+
    };
    (@reservations $($part:tt)+) => {
        $crate::forward_policy!(fn reservations(
            &mut $($part)+,
            view: &$crate::schedule::Machine,
            most: usize,
            reserved: &mut Vec<($crate::job::JobId, $crate::time::Time)>
        ));
    };
    (@on_begin $($part:tt)+) => {
        $crate::forward_policy!(fn on_begin(&mut $($part)+, facts: &$crate::schedule::Facts));
    };
    (@on_arrival $($part:tt)+) => {
        $crate::forward_policy!(fn on_arrival(&mut $($part)+, id: $crate::job::JobId, job: &$crate::job::Submission));
    };
    (@on_prediction $($part:tt)+) => {
        $crate::forward_policy!(fn on_prediction(&mut $($part)+, job: &$crate::schedule::Waiting));
    };
    (@on_termination $($part:tt)+) => {
        $crate::forward_policy!(fn on_termination(&mut $($part)+, id: $crate::job::JobId, now: $crate::time::Time));
    };
    (@on_cancellation $($part:tt)+) => {
        $crate::forward_policy!(fn on_cancellation(&mut $($part)+, job: &$crate::schedule::Waiting));
    };
    (@on_clock $($part:tt)+) => {
        $crate::forward_policy!(fn on_clock(&mut $($part)+, now: $crate::time::Time));
    };
    (@follows_clock $($part:tt)+) => {
        $crate::forward_policy!(fn follows_clock(&$($part)+) -> bool);
    };
    (@take_virtual_starts $($part:tt)+) => {
        $crate::forward_policy!(fn take_virtual_starts(&mut $($part)+) -> Option<Vec<$crate::time::Time>>);
    };
    (@as_outside $($part:tt)+) => {
        $crate::forward_policy!(fn as_outside(&mut $($part)+) -> Option<&mut dyn $crate::schedule::OutsidePolicy>);
    };
    (@wakes_at $($part:tt)+) => {
        $crate::forward_policy!(fn wakes_at(&$($part)+) -> Option<$crate::time::Time>);
    };
    (@counts_running_by_estimates $($part:tt)+) => {
        $crate::forward_policy!(fn counts_running_by_estimates(&$($part)+) -> bool);
    };
    (@why_never $($part:tt)+) => {
        $crate::forward_policy!(fn why_never(
            &mut $($part)+,
            id: $crate::job::JobId,
            job: &$crate::job::Submission,
            view: &$crate::schedule::Machine,
            is_end: bool
        ) -> Option<$crate::schedule::NeverStarts>);
    };
    (@oversubscribes $($part:tt)+) => {
        $crate::forward_policy!(fn oversubscribes(&$($part)+) -> bool);
    };
    (@shapes $($part:tt)+) => {
        $crate::forward_policy!(fn shapes(&$($part)+) -> Option<std::sync::Arc<$crate::machine::Shapes>>);
    };
    (@take_grant $($part:tt)+) => {
        $crate::forward_policy!(fn take_grant(&mut $($part)+, id: $crate::job::JobId) -> $crate::machine::NodeGrant);
    };
    (fn $method:ident(&mut $this:ident.$part:ident $(, $name:ident: $type:ty)*) $(-> $result:ty)?) => {
        fn $method(&mut $this $(, $name: $type)*) $(-> $result)? {
            $this.$part.$method($($name),*)
        }
    };
    (fn $method:ident(&$this:ident.$part:ident) -> $result:ty) => {
        fn $method(&$this) -> $result {
            $this.$part.$method()
        }
    };
}

pub use crate::forward_policy;
