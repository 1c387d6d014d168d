//! Gantt charts, which are made of the jobs of a window.

mod gantt;
mod gantt_nodes;
mod grants;

pub use gantt::{Gantt, GanttJob, MOST_JOBS, busiest_window, shrink_window};
pub use gantt_nodes::{GanttNode, gantt_nodes};
pub use grants::NodeGrants;
