//! Operations that are under way, with the program's buffers and requests that are lent for them.
//!
//! **Life of a loan.** Begun (`lend`), by a verb of the window → ended by the component ([`Open`]), or taken back by the layer when the synchronisation that
//! completes the operation is over (`recall`). A component cannot keep a loan: it has a number, which is looked up under the window's lock each time.
//! So the program's buffer is written before the program has it back, or never, and a component that ends too few operations is found out.

use super::operation::Operation;
use crate::elements::Destination;
use crate::requests::Pending;
use oxmpi_mca::Status;
use std::collections::BTreeMap;

/// The right to end an operation, once, and to bring its result until then.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "an operation that its component does not end is an error of the synchronisation that completes it"]
pub struct Open(u64);

impl Open {
    /// Tells the number of the operation, which no other one of the window has.
    pub fn number(&self) -> u64 {
        self.0
    }
}

/// Buffer and request that are lent for an operation.
struct Loan {
    target: u32,
    into: Option<Destination>,
    request: Option<Pending>,
}

/// The operations of a window that have not ended, by number.
#[derive(Default)]
pub(super) struct Loans {
    open: BTreeMap<u64, Loan>,
    last: u64,
}

impl Loans {
    /// Begins an operation.
    pub fn lend(&mut self, operation: &Operation<'_>, request: Option<Pending>) -> Open {
        self.last += 1;
        let loan = Loan { target: operation.target, into: operation.destination(), request };
        self.open.insert(self.last, loan);
        Open(self.last)
    }

    /// Tells the number below which all operations are that were begun.
    pub fn next(&self) -> u64 {
        self.last + 1
    }

    /// Puts a part of the result where it belongs; false: that is behind the end of the result. Nothing is written for an operation that is over.
    pub fn fill(&self, open: &Open, at: u64, bytes: &[u8]) -> bool {
        let Some(loan) = self.open.get(&open.0) else { return true };
        let Some(into) = &loan.into else { return bytes.is_empty() };
        // SAFETY: the operation's arguments vouched for the buffer until the operation is complete. The program learns of that by the request, which `end` completes
        // behind the loan, or by a synchronisation, behind which `recall` has taken it back.
        unsafe { into.fill(at, bytes) }
    }

    /// Ends an operation.
    pub fn end(&mut self, open: Open, status: Status) {
        if let Some(request) = self.open.remove(&open.0).and_then(|loan| loan.request) {
            request.complete(status);
        }
    }

    /// Undoes the beginning of an operation whose request nobody has seen.
    pub fn undo(&mut self, number: u64) {
        self.open.remove(&number);
    }

    /// Takes back what is lent for operations to a target (`None`: to any) with lower numbers than `before`; requests that are left are complete, with INTERNAL. Tells
    /// whether there was nothing left to take.
    pub fn recall(&mut self, target: Option<u32>, before: u64) -> bool {
        let of =
            |number: &u64, loan: &mut Loan| *number < before && target.is_none_or(|rank| rank == loan.target);
        let mut none = true;
        for (_, loan) in self.open.extract_if(.., of) {
            none = false;
            if let Some(request) = loan.request {
                request.complete(Status::INTERNAL);
            }
        }
        none
    }
}

#[cfg(test)]
mod tests {
    use super::super::operation::Kind;
    use super::*;
    use core::ptr::{null, null_mut};
    use oxmpi_datatype::{Base, TypeDesc};
    use oxmpi_osc::{Rma, RmaArgs};

    /// Arguments of a get of bytes into memory of the test's.
    fn args(target: u32, into: &mut [u8], byte: &TypeDesc) -> RmaArgs {
        RmaArgs {
            thread: null_mut(),
            origin: into.as_mut_ptr(),
            origin_count: into.len() as u64,
            origin_type: byte,
            result: null_mut(),
            result_count: 0,
            result_type: null(),
            compare: null(),
            target,
            reserved: 0,
            disp: 0,
            target_count: into.len() as u64,
            target_type: byte,
            op: null(),
        }
    }

    fn lend(loans: &mut Loans, args: &RmaArgs) -> Open {
        // SAFETY: the test's memory and type, which outlive the loans.
        let operation = Operation::of(Kind::Get, unsafe { Rma::new(args) }).expect("a get");
        assert!(operation.gives.is_none() && operation.has_result());
        assert_eq!(operation.bytes(), args.origin_count);
        loans.lend(&operation, None)
    }

    #[test]
    fn buffers_are_written_until_they_go_back() {
        let byte = TypeDesc::basic(Base::BYTE).expect("a basic type");
        let byte: &TypeDesc = Box::leak(Box::new(byte));
        let mut memory = [[0u8; 4]; 3];
        let [first, second, third] = &mut memory;
        let all = [args(7, first, byte), args(8, second, byte), args(7, third, byte)];
        let mut loans = Loans::default();
        let [first, second] = [0, 1].map(|at| lend(&mut loans, &all[at]));
        let before = loans.next();
        let third = lend(&mut loans, &all[2]);
        assert!(loans.fill(&first, 1, &[1, 2]) && loans.fill(&third, 0, &[3]));
        assert!(!loans.fill(&first, 3, &[1, 2]), "more than the result has: one is left over");
        // A synchronisation with rank 7 finds one that was not ended; the last one was begun behind it.
        assert!(!loans.recall(Some(7), before));
        assert!(loans.recall(Some(7), before), "all are back");
        assert!(loans.fill(&first, 0, &[9; 4]), "a result that comes too late is no fault of its sender's");
        assert!(loans.fill(&second, 0, &[4]) && loans.fill(&third, 3, &[5]));
        loans.end(second, Status::OK);
        loans.end(first, Status::OK);
        assert!(!loans.recall(None, loans.next()));
        assert!(loans.fill(&third, 0, &[9; 4]));
        assert_eq!(memory, [[0, 1, 2, 1], [4, 0, 0, 0], [3, 0, 0, 5]]);
    }

    #[test]
    fn an_operation_that_was_refused_is_no_loan() {
        let byte = TypeDesc::basic(Base::BYTE).expect("a basic type");
        let byte: &TypeDesc = Box::leak(Box::new(byte));
        let mut memory = [0u8; 4];
        let args = args(0, &mut memory, byte);
        let mut loans = Loans::default();
        let open = lend(&mut loans, &args);
        loans.undo(open.number());
        assert!(loans.recall(None, loans.next()) && loans.fill(&open, 0, &[1]));
        assert_eq!(memory, [0; 4]);
    }
}
