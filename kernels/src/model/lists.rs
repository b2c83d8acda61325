//! Lists of items.

use std::ops::Range;

/// Numbered lists of items, in compressed-row form.
#[derive(Debug, Clone, PartialEq)]
pub struct Lists<T> {
    offsets: Vec<u32>,
    items: Vec<T>,
}

impl<T> Default for Lists<T> {
    fn default() -> Self {
        Self {
            offsets: vec![0],
            items: Vec::new(),
        }
    }
}

impl<T> Lists<T> {
    /// `count` lists from (list, item) in any order. A list keeps the order of its items; items of lists beyond `count`
    /// are left out.
    pub fn gathered(count: usize, mut items: Vec<(usize, T)>) -> Self {
        items.sort_by_key(|item| item.0);
        let mut items = items.into_iter().peekable();
        let mut lists = Self::default();
        for list in 0..count {
            while let Some((_, item)) = items.next_if(|next| next.0 == list) {
                lists.items.push(item);
            }
            lists.push([]);
        }
        lists
    }

    /// The items of a list.
    ///
    /// # Panics
    /// There is no such list.
    pub fn of(&self, list: usize) -> &[T] {
        &self.items[self.offsets[list] as usize..self.offsets[list + 1] as usize]
    }

    /// Number of lists.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Returns whether there is no list.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All lists.
    pub fn iter(&self) -> impl Iterator<Item = &[T]> {
        self.range(0..self.len() as u32)
    }

    /// Neighbouring lists.
    ///
    /// # Panics
    /// There is no such list.
    pub fn range(&self, lists: Range<u32>) -> impl Iterator<Item = &[T]> + Clone {
        lists.map(|list| self.of(list as usize))
    }

    /// Offset of each list's items, and the end of the last: one item more than lists.
    pub fn offsets(&self) -> &[u32] {
        &self.offsets
    }

    /// All items, list after list.
    pub fn all(&self) -> &[T] {
        &self.items
    }

    /// Bytes of items and offsets.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.offsets[..]) + size_of_val(&self.items[..])
    }

    /// Overwrites a list's items by as many others.
    ///
    /// # Panics
    /// There are more or fewer, or there is no such list.
    pub fn replace(&mut self, list: usize, items: &[T])
    where
        T: Copy,
    {
        self.items[self.offsets[list] as usize..self.offsets[list + 1] as usize]
            .copy_from_slice(items);
    }

    /// The lists with these numbers, in this order.
    ///
    /// # Panics
    /// There is no such list.
    pub fn reordered(&self, order: &[u32]) -> Self
    where
        T: Copy,
    {
        let mut lists = Self::default();
        for &list in order {
            lists.push(self.of(list as usize).iter().copied());
        }
        lists
    }

    /// Appends a list.
    pub fn push(&mut self, items: impl IntoIterator<Item = T>) {
        self.items.extend(items);
        self.offsets.push(self.items.len() as u32);
    }
}
