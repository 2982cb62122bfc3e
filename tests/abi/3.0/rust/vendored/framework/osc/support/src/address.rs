//! Addresses as values that threads hand to each other.

/// An address of something that the host, the program or another process keeps. To follow it is `unsafe`, and whoever does so vouches for what lies there.
pub struct Address<T>(*mut T);

// SAFETY: what lies there may be reached by any thread (`of`), and nobody reads or writes it but by `unsafe` code, which says why it may.
unsafe impl<T> Send for Address<T> {}
// SAFETY: a shared one gives copies of the number away and nothing else.
unsafe impl<T> Sync for Address<T> {}

impl<T> Address<T> {
    /// Nothing lies there.
    pub const NULL: Address<T> = Address(core::ptr::null_mut());

    /// Keeps an address.
    ///
    /// # Safety
    /// Nothing lies there, or what lies there belongs to no thread: whichever gets the address may reach it, as far as whoever gives it to that thread says.
    #[inline(always)]
    pub const unsafe fn of(at: *const T) -> Address<T> {
        Address(at.cast_mut())
    }
    /// Tells the address.
    #[inline(always)]
    pub const fn get(self) -> *mut T {
        self.0
    }
    /// Tells whether nothing lies there.
    #[inline(always)]
    pub const fn is_null(self) -> bool {
        self.0.is_null()
    }
}

impl<T> Clone for Address<T> {
    #[inline(always)]
    fn clone(&self) -> Address<T> {
        *self
    }
}
impl<T> Copy for Address<T> {}

impl<T> PartialEq for Address<T> {
    #[inline(always)]
    fn eq(&self, other: &Address<T>) -> bool {
        core::ptr::eq(self.0, other.0)
    }
}
impl<T> Eq for Address<T> {}

impl<T> core::fmt::Debug for Address<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{:p}", self.0)
    }
}
