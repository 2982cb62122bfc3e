//! Type signatures: the basic elements of a datatype in the order of its type map (MPI 5.0 §5.1).
//!
//! The packed stream of a type is its basic elements without gaps, so a signature says where each
//! begins in the stream: how many elements a number of bytes holds (MPI_Get_elements), how many bytes
//! a number of elements has (MPI_Status_set_elements), and what has to be converted for external32
//! (`external.rs`). Layout does not come into it.
//!
//! **Form.** A list of terms, each a number of equal basic elements or a number of copies of another
//! signature. Repeating costs a term, whatever the count; a signature of one basic type is one term.
//! Copies are shared, and the depth is bounded.

use crate::atom::Atom;
use crate::desc::Base;
use oxmpi_mca::Status;
use std::collections::HashSet;
use std::sync::Arc;

/// Most terms written out in one signature.
const MAX_TERMS: usize = 1 << 20;
/// From this depth on single copies do not nest. Repeated ones do; each doubles the size, so there are
/// at most 63 of them one in another.
const MAX_DEPTH: u32 = 64;

#[derive(Clone, Debug)]
enum TermKind {
    /// Basic elements of one kind.
    Basic(Atom),
    Group(Arc<Signature>),
}

#[derive(Clone, Debug)]
struct Term {
    kind: TermKind,
    count: u64,
}

impl TermKind {
    /// The same; two groups that only look alike may be taken for different ones.
    fn is(&self, other: &TermKind) -> bool {
        match (self, other) {
            (TermKind::Basic(a), TermKind::Basic(b)) => a == b,
            (TermKind::Group(a), TermKind::Group(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }
    fn depth(&self) -> u32 {
        match self {
            TermKind::Basic(_) => 0,
            TermKind::Group(group) => group.depth + 1,
        }
    }
    fn bytes(&self) -> u64 {
        match self {
            TermKind::Basic(atom) => atom.bytes(),
            TermKind::Group(group) => group.bytes,
        }
    }
    fn external(&self) -> u64 {
        match self {
            TermKind::Basic(atom) => atom.external_bytes(),
            TermKind::Group(group) => group.external,
        }
    }
    fn elements(&self) -> u64 {
        match self {
            TermKind::Basic(_) => 1,
            TermKind::Group(group) => group.elements,
        }
    }
}

/// The basic elements of one element of a type.
#[derive(Clone, Debug, Default)]
pub struct Signature {
    terms: Vec<Term>,
    depth: u32,
    bytes: u64,
    external: u64,
    elements: u64,
}

impl Signature {
    /// Of a predefined type. A pair has two elements.
    pub fn basic(base: Base) -> Signature {
        let mut sig = Signature::default();
        let (first, second) = base.pair().unwrap_or((base, Base::MIXED));
        for atom in [first, second].into_iter().filter_map(Atom::of) {
            // One or two elements of at most 32 bytes.
            let _ = sig.push(TermKind::Basic(atom), 1);
        }
        sig
    }

    /// Of a pair whose first element is given.
    pub fn pair(first: Atom, second: Base) -> Signature {
        let mut sig = Signature::atom(first);
        if let Some(second) = Atom::of(second) {
            let _ = sig.push(TermKind::Basic(second), 1);
        }
        sig
    }

    /// Of a type of one basic element whose form is given.
    pub fn atom(atom: Atom) -> Signature {
        let mut sig = Signature::default();
        let _ = sig.push(TermKind::Basic(atom), 1);
        sig
    }

    /// Bytes in the packed stream.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
    /// Bytes in external32.
    pub fn external_bytes(&self) -> u64 {
        self.external
    }
    pub fn elements(&self) -> u64 {
        self.elements
    }

    /// Appends `count` copies of `other`. BAD_PARAM if the size is no number, NOT_SUPPORTED if there
    /// are too many terms.
    pub fn append(&mut self, other: &Arc<Signature>, count: u64) -> Result<(), Status> {
        if count == 0 || other.terms.is_empty() {
            return Ok(());
        }
        if let [one] = &other.terms[..] {
            let count = one.count.checked_mul(count).ok_or(Status::BAD_PARAM)?;
            return self.push(one.kind.clone(), count);
        }
        // A single copy need not nest: small ones are written out, and so is everything in a deep nest.
        if count == 1 && (other.terms.len() <= 4 || other.depth >= MAX_DEPTH) {
            return other.terms.iter().try_for_each(|t| self.push(t.kind.clone(), t.count));
        }
        self.push(TermKind::Group(other.clone()), count)
    }

    fn push(&mut self, kind: TermKind, count: u64) -> Result<(), Status> {
        let add = |total: u64, each: u64| {
            let sum = each.checked_mul(count).and_then(|n| n.checked_add(total));
            sum.filter(|n| *n <= i64::MAX as u64).ok_or(Status::BAD_PARAM)
        };
        self.bytes = add(self.bytes, kind.bytes())?;
        self.external = add(self.external, kind.external())?;
        self.elements = add(self.elements, kind.elements())?;
        if let Some(last) = self.terms.last_mut().filter(|last| last.kind.is(&kind)) {
            last.count += count;
            return Ok(());
        }
        if self.terms.len() == MAX_TERMS {
            return Err(Status::NOT_SUPPORTED);
        }
        self.depth = self.depth.max(kind.depth());
        self.terms.push(Term { kind, count });
        Ok(())
    }

    /// Basic elements in the first `bytes` of a stream of this signature again and again. `None` if
    /// the bytes end inside an element.
    pub fn elements_in(&self, bytes: u64) -> Option<u64> {
        if bytes == 0 {
            return Some(0);
        }
        if self.bytes == 0 {
            return None;
        }
        let (mut rest, mut found) = (bytes % self.bytes, bytes / self.bytes * self.elements);
        for term in &self.terms {
            let each = term.kind.bytes();
            let whole = (rest / each).min(term.count);
            found += whole * term.kind.elements();
            rest -= whole * each;
            if whole < term.count {
                return match &term.kind {
                    _ if rest == 0 => Some(found),
                    TermKind::Basic(_) => None,
                    TermKind::Group(group) => Some(found + group.elements_in(rest)?),
                };
            }
        }
        Some(found)
    }

    /// Bytes of the first `elements` basic elements of such a stream; `None` if that is no number.
    pub fn bytes_of(&self, elements: u64) -> Option<u64> {
        if elements == 0 || self.elements == 0 {
            return Some(0);
        }
        let mut rest = elements % self.elements;
        let mut bytes = (elements / self.elements).checked_mul(self.bytes)?;
        for term in &self.terms {
            let each = term.kind.elements();
            let whole = (rest / each).min(term.count);
            bytes = bytes.checked_add(whole * term.kind.bytes())?;
            rest -= whole * each;
            if whole < term.count {
                return match &term.kind {
                    TermKind::Group(group) if rest > 0 => bytes.checked_add(group.bytes_of(rest)?),
                    _ => Some(bytes),
                };
            }
        }
        Some(bytes)
    }

    /// The kinds of basic elements, each at least once and in no order; what is shared among terms is looked at once.
    pub fn kinds(&self, take: &mut impl FnMut(Atom)) {
        let mut seen = HashSet::new();
        let mut open = vec![self];
        while let Some(signature) = open.pop() {
            for term in &signature.terms {
                match &term.kind {
                    TermKind::Basic(atom) => take(*atom),
                    TermKind::Group(group) => {
                        if seen.insert(Arc::as_ptr(group)) {
                            open.push(group);
                        }
                    }
                }
            }
        }
    }

    /// The basic elements of `count` copies in order, as runs of equal ones.
    pub fn each<E>(&self, count: u64, take: &mut impl FnMut(Atom, u64) -> Result<(), E>) -> Result<(), E> {
        if let [Term { kind: TermKind::Basic(atom), count: n }] = self.terms[..] {
            return take(atom, n * count);
        }
        for _ in 0..count {
            for term in &self.terms {
                match &term.kind {
                    TermKind::Basic(atom) => take(*atom, term.count)?,
                    TermKind::Group(group) => group.each(term.count, take)?,
                }
            }
        }
        Ok(())
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn of(parts: &[(&Arc<Signature>, u64)]) -> Arc<Signature> {
        let mut s = Signature::default();
        for (part, n) in parts {
            s.append(part, *n).unwrap();
        }
        Arc::new(s)
    }

    #[test]
    fn elements_and_bytes_answer_each_other() {
        let int = Arc::new(Signature::basic(Base::I32));
        let double = Arc::new(Signature::basic(Base::F64));
        let pair = Arc::new(Signature::basic(Base::SHORT_INT));
        let record = of(&[(&int, 2), (&double, 3), (&pair, 1)]);
        let nest = of(&[(&double, 1), (&record, 4), (&int, 1)]);
        // The same, one element at a time.
        let mut sizes = vec![8u64];
        for _ in 0..4 {
            sizes.extend([4, 4, 8, 8, 8, 2, 4]);
        }
        sizes.push(4);
        assert_eq!(nest.elements(), sizes.len() as u64);
        assert_eq!(nest.bytes(), sizes.iter().sum::<u64>());
        let (mut at, mut ends) = (0, vec![0]);
        for size in sizes.iter().cycle().take(3 * sizes.len() + 5) {
            at += size;
            ends.push(at);
        }
        for bytes in 0..=at {
            let expected = ends.iter().position(|e| *e == bytes).map(|n| n as u64);
            assert_eq!(nest.elements_in(bytes), expected, "{bytes} bytes");
        }
        for (n, end) in ends.iter().enumerate() {
            assert_eq!(nest.bytes_of(n as u64), Some(*end), "{n} elements");
        }
    }

    #[test]
    fn equal_elements_are_one_term() {
        let int = Arc::new(Signature::basic(Base::I32));
        let many = of(&[(&int, 1 << 40), (&int, 5)]);
        assert_eq!(many.terms.len(), 1);
        assert_eq!(of(&[(&many, 3), (&int, 1)]).elements(), 3 * ((1 << 40) + 5) + 1);
        assert_eq!(Signature::clone(&many).append(&many, 1 << 30), Err(Status::BAD_PARAM));
        assert_eq!(Signature::basic(Base::TWO_INT).elements_in(12), Some(3));
        assert_eq!(Signature::basic(Base::MIXED).elements_in(4), None);
        assert_eq!(Signature::basic(Base::MIXED).bytes_of(4), Some(0));
    }
}
