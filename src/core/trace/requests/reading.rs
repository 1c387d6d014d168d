//! The requests of a log while it is read.

use rustc_hash::FxHashMap;

use super::if_more_than_cpus;
use crate::request::{LogRequests, Request, RequestId, Requests};
use crate::trace::record::Record;
use crate::trace::rows::Bad;

/// The requests of the rows that were read so far. Rows that say the same are understood once.
#[derive(Debug, Default)]
pub struct RequestsRead {
    requests: Requests,
    /// By what the row says.
    known: FxHashMap<Box<[u8]>, RequestId>,
    /// Memory for the next key.
    key: Vec<u8>,
    /// By record, as far as the last one that has a request.
    by_record: Vec<RequestId>,
}

impl RequestsRead {
    /// The request of a row. `texts` is all that the request depends on; `make` is called if no earlier row says the same.
    pub fn of_row<'r, 't>(
        &mut self,
        texts: impl Iterator<Item = &'t [u8]>,
        make: impl FnOnce() -> Result<Option<Request>, Bad<'r>>,
    ) -> Result<RequestId, Bad<'r>> {
        self.key.clear();
        for text in texts {
            self.key.extend_from_slice(text);
            self.key.push(b'\n');
        }
        if let Some(&id) = self.known.get(&self.key[..]) {
            return Ok(id);
        }
        let id = make()?.map_or(RequestId::NONE, |request| self.requests.intern(request));
        self.known.insert(self.key.as_slice().into(), id);
        Ok(id)
    }

    /// The number of a request, if it says more than a number of CPUs.
    pub fn of_request(&mut self, request: Request) -> RequestId {
        if_more_than_cpus(request).map_or(RequestId::NONE, |request| self.intern(request))
    }

    /// The number of a request.
    pub fn intern(&mut self, request: Request) -> RequestId {
        self.requests.intern(request)
    }

    /// Sets the request of a record, which is after all that have one.
    pub fn set(&mut self, record: usize, id: RequestId) {
        if id != RequestId::NONE {
            self.by_record.resize(record, RequestId::NONE);
            self.by_record.push(id);
        }
    }

    /// The requests of the records in their final order. `place` is the place of a record before, if that is not the same.
    pub fn finish(mut self, records: &[Record], place: Option<fn(&Record) -> usize>) -> LogRequests {
        if self.requests.is_empty() {
            return LogRequests::default();
        }
        self.by_record.resize(records.len(), RequestId::NONE);
        let by_record = match place {
            None => self.by_record,
            Some(place) => records.iter().map(|record| self.by_record[place(record)]).collect(),
        };
        LogRequests::of_records(self.requests, by_record)
    }
}
