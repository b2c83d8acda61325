//! Lists of items, one per instance.

/// A list for each instance, in compressed-row form.
#[derive(Debug, Clone)]
pub struct Lists<T> {
    offsets: Vec<u32>,
    items: Vec<T>,
}

impl<T> Default for Lists<T> {
    fn default() -> Self {
        Self { offsets: vec![0], items: Vec::new() }
    }
}

impl<T: Clone> Lists<T> {
    /// An instance's items.
    pub fn of(&self, instance: usize) -> &[T] {
        &self.items[self.offsets[instance] as usize..self.offsets[instance + 1] as usize]
    }

    /// Offset of each instance's items, and the end of the last instance's: one item more than instances.
    pub fn offsets(&self) -> &[u32] {
        &self.offsets
    }

    /// All items, instance after instance.
    pub fn all(&self) -> &[T] {
        &self.items
    }

    /// Overwrites an instance's items by as many others.
    ///
    /// # Panics
    /// There are more or fewer.
    pub fn replace(&mut self, instance: usize, items: &[T])
    where
        T: Copy,
    {
        self.items[self.offsets[instance] as usize..self.offsets[instance + 1] as usize].copy_from_slice(items);
    }

    pub(super) fn push(&mut self, items: &[T]) {
        self.items.extend_from_slice(items);
        self.offsets.push(self.items.len() as u32);
    }
}
