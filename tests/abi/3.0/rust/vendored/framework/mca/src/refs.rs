//! Borrowed text and lists, as they cross the line between host and component.

/// Borrowed text. The bytes live as long as the component (for what a component gives) or the call
/// (for what a call takes). UTF-8, not terminated.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct StrRef {
    /// The first byte; anything where `len` is 0.
    pub ptr: *const u8,
    /// Bytes of the text, without a terminating 0.
    pub len: usize,
}

// SAFETY: it only reads, and text is never changed while it is borrowed: that is what the type says.
unsafe impl Sync for StrRef {}

impl StrRef {
    /// The text of no bytes.
    pub const EMPTY: StrRef = StrRef::new("");

    /// A reference to a text of the program itself, which may be kept.
    pub const fn new(s: &'static str) -> StrRef {
        StrRef { ptr: s.as_ptr(), len: s.len() }
    }

    /// For the duration of a call.
    pub const fn of(s: &str) -> StrRef {
        StrRef { ptr: s.as_ptr(), len: s.len() }
    }

    /// The text, or `None` when it is not UTF-8 or the pointer is null with a length.
    ///
    /// # Safety
    /// `ptr` must be readable for `len` bytes for the lifetime chosen by the caller, and nobody writes them meanwhile.
    pub unsafe fn get<'a>(self) -> Option<&'a str> {
        if self.len == 0 {
            return Some("");
        }
        if self.ptr.is_null() || self.len > isize::MAX as usize {
            return None;
        }
        // SAFETY: not null, length bounded; readability is the caller's promise.
        core::str::from_utf8(unsafe { core::slice::from_raw_parts(self.ptr, self.len) }).ok()
    }
}

/// Pointer and element count.
#[repr(C)]
pub struct SliceRef<T> {
    /// The first element, aligned as `T` is; anything where `len` is 0.
    pub ptr: *const T,
    /// Number of elements, not bytes.
    pub len: usize,
}

impl<T> Clone for SliceRef<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for SliceRef<T> {}

impl<T> SliceRef<T> {
    /// A reference to a list of the program itself, which may be kept.
    pub const fn new(s: &'static [T]) -> SliceRef<T> {
        SliceRef { ptr: s.as_ptr(), len: s.len() }
    }

    /// The elements; none where `ptr` is null.
    ///
    /// # Safety
    /// `ptr` is null, or aligned and points to `len` initialised values, for the lifetime chosen by the caller; nobody writes them meanwhile.
    pub unsafe fn get<'a>(self) -> &'a [T] {
        if self.len == 0 || self.ptr.is_null() {
            return &[];
        }
        // SAFETY: the caller's promise.
        unsafe { core::slice::from_raw_parts(self.ptr, self.len) }
    }
}
