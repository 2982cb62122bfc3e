//! Cartesian grids (MPI 5.0 §8.5). Ranks are in row-major order: the last coordinate changes fastest. A grid may have no
//! dimension at all; it has one place.

/// MPI_PROC_NULL in lists of neighbors.
pub const NOBODY: i32 = oxmpi_coll::NO_ROOT;

/// A cartesian grid: its dimensions, and which of them are periodic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cart {
    dims: Vec<u32>,
    periods: Vec<bool>,
}

impl Cart {
    /// Makes a grid; `None`: it has a dimension without places, or more places than there can be ranks.
    pub fn new(dims: &[i32], periods: &[bool]) -> Option<Cart> {
        let dims: Vec<u32> =
            dims.iter().map(|d| u32::try_from(*d).ok().filter(|d| *d > 0)).collect::<Option<_>>()?;
        let size = dims.iter().try_fold(1u32, |size, d| size.checked_mul(*d));
        size.filter(|size| i32::try_from(*size).is_ok())?;
        Some(Cart { dims, periods: periods.to_vec() })
    }

    /// The number of places in each dimension.
    pub fn dims(&self) -> &[u32] {
        &self.dims
    }

    /// Whether each dimension is periodic.
    pub fn periods(&self) -> &[bool] {
        &self.periods
    }

    /// The number of dimensions.
    pub fn ndims(&self) -> usize {
        self.dims.len()
    }

    /// The number of places in the grid.
    pub fn size(&self) -> u32 {
        self.dims.iter().product()
    }

    /// The coordinates of a rank, which is below [`Self::size`].
    pub fn coords(&self, rank: u32) -> Vec<u32> {
        let mut rest = rank;
        let mut coords = Vec::with_capacity(self.dims.len());
        for len in self.dims.iter().rev() {
            coords.push(rest % len);
            rest /= len;
        }
        coords.reverse();
        coords
    }

    /// The rank at these coordinates; those of periodic dimensions wrap around. `Err`: the first dimension that has no
    /// such place.
    pub fn rank(&self, coords: &[i32]) -> Result<u32, usize> {
        let place = |at: usize| {
            let (c, len) = (i64::from(coords[at]), i64::from(self.dims[at]));
            let inside = if self.periods[at] { c.rem_euclid(len) } else { c };
            if (0..len).contains(&inside) { Ok(inside as u32) } else { Err(at) }
        };
        (0..self.dims.len()).try_fold(0, |rank, at| Ok(rank * self.dims[at] + place(at)?))
    }

    /// The ranks `disp` places below and above in a dimension: source and destination of a shift (MPI_Cart_shift).
    /// [`NOBODY`] beyond the border.
    pub fn shift(&self, rank: u32, dimension: usize, disp: i32) -> (i32, i32) {
        let below: u32 = self.dims[dimension + 1..].iter().product();
        let len = i64::from(self.dims[dimension]);
        let here = i64::from(rank / below) % len;
        let at = |place: i64| {
            let inside = if self.periods[dimension] { place.rem_euclid(len) } else { place };
            match (0..len).contains(&inside) {
                true => (i64::from(rank) + (inside - here) * i64::from(below)) as i32,
                false => NOBODY,
            }
        };
        (at(here - i64::from(disp)), at(here + i64::from(disp)))
    }

    /// The neighbors below and above in every dimension, the order of the blocks in neighborhood collectives.
    pub fn neighbors(&self, rank: u32) -> Vec<i32> {
        (0..self.dims.len()).flat_map(|at| <[i32; 2]>::from(self.shift(rank, at, 1))).collect()
    }

    /// Makes the grid of the dimensions that are kept (MPI_Cart_sub).
    pub fn kept(&self, keep: &[bool]) -> Cart {
        let of = |at: &usize| keep[*at];
        Cart {
            dims: (0..self.dims.len()).filter(of).map(|at| self.dims[at]).collect(),
            periods: (0..self.dims.len()).filter(of).map(|at| self.periods[at]).collect(),
        }
    }

    /// The ranks of the part that `rank` is in, in the order of the grid of the kept dimensions: those that differ from it
    /// in kept coordinates alone.
    pub fn part(&self, rank: u32, keep: &[bool]) -> Vec<u32> {
        let kept = self.kept(keep);
        let mut coords: Vec<i32> = self.coords(rank).iter().map(|c| *c as i32).collect();
        let place = |inner: u32| {
            let mut inner = kept.coords(inner).into_iter();
            for (at, c) in coords.iter_mut().enumerate() {
                if keep[at] {
                    *c = inner.next().unwrap_or(0) as i32;
                }
            }
            self.rank(&coords).unwrap_or(rank)
        };
        (0..kept.size()).map(place).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// All places in order, by counting.
    fn places(dims: &[u32]) -> Vec<Vec<u32>> {
        dims.iter().fold(vec![vec![]], |all, len| {
            all.iter().flat_map(|p| (0..*len).map(move |c| [&p[..], &[c]].concat())).collect()
        })
    }

    fn grids() -> impl Strategy<Value = Cart> {
        prop::collection::vec((1i32..5, any::<bool>()), 0..5).prop_map(|dims| {
            let (dims, periods): (Vec<i32>, Vec<bool>) = dims.into_iter().unzip();
            Cart::new(&dims, &periods).unwrap()
        })
    }

    proptest! {
        #[test]
        fn ranks_and_places_are_one_to_one(grid in grids()) {
            let places = places(grid.dims());
            prop_assert_eq!(places.len(), grid.size() as usize);
            for (rank, place) in places.iter().enumerate() {
                prop_assert_eq!(&grid.coords(rank as u32), place);
                let signed: Vec<i32> = place.iter().map(|c| *c as i32).collect();
                prop_assert_eq!(grid.rank(&signed), Ok(rank as u32));
            }
        }

        #[test]
        fn far_coordinates_wrap_or_are_refused(grid in grids(), far in prop::collection::vec(-20i32..20, 5)) {
            let coords = &far[..grid.ndims()];
            let outside = |at: &usize| {
                !grid.periods()[*at] && !(0..grid.dims()[*at] as i32).contains(&coords[*at])
            };
            let wrapped = |at: usize| (coords[at] + 20 * grid.dims()[at] as i32) as u32 % grid.dims()[at];
            let model = match (0..grid.ndims()).find(outside) {
                Some(at) => Err(at),
                None => {
                    let place: Vec<u32> = (0..grid.ndims()).map(wrapped).collect();
                    Ok(places(grid.dims()).iter().position(|p| *p == place).unwrap() as u32)
                }
            };
            prop_assert_eq!(grid.rank(coords), model);
        }

        #[test]
        fn shifts_are_steps(grid in grids(), disp in -9i32..9) {
            let places = places(grid.dims());
            for (rank, place) in places.iter().enumerate() {
                for at in 0..grid.ndims() {
                    let (len, periodic) = (grid.dims()[at] as i32, grid.periods()[at]);
                    let step = |by: i32| {
                        let c = place[at] as i32 + by;
                        if !periodic && !(0..len).contains(&c) {
                            return NOBODY;
                        }
                        let mut there = place.clone();
                        there[at] = ((c + 10 * len) % len) as u32;
                        places.iter().position(|p| *p == there).unwrap() as i32
                    };
                    prop_assert_eq!(grid.shift(rank as u32, at, disp), (step(-disp), step(disp)));
                }
            }
        }

        #[test]
        fn parts_divide_the_grid(grid in grids(), keep in prop::collection::vec(any::<bool>(), 5)) {
            let keep = &keep[..grid.ndims()];
            let places = places(grid.dims());
            for (rank, place) in places.iter().enumerate() {
                let part = grid.part(rank as u32, keep);
                let alike = |p: &Vec<u32>| (0..keep.len()).all(|at| keep[at] || p[at] == place[at]);
                let model: Vec<u32> =
                    (0..places.len()).filter(|r| alike(&places[*r])).map(|r| r as u32).collect();
                prop_assert_eq!(&part, &model);
                let inner = part.iter().position(|r| *r == rank as u32).unwrap() as u32;
                let kept: Vec<u32> = (0..keep.len()).filter(|at| keep[*at]).map(|at| place[at]).collect();
                prop_assert_eq!(grid.kept(keep).coords(inner), kept);
            }
        }
    }

    #[test]
    fn a_grid_has_places() {
        let whole = |dims: &[i32]| Cart::new(dims, &vec![true; dims.len()]);
        assert_eq!(whole(&[]).unwrap().size(), 1);
        assert_eq!(whole(&[]).unwrap().rank(&[]), Ok(0));
        assert!(whole(&[2, 0]).is_none() && whole(&[-1]).is_none());
        assert!(whole(&[1 << 16, 1 << 15]).is_none() && whole(&[1 << 16, 1 << 16]).is_none());
        assert!(whole(&[i32::MAX]).is_some());
    }

    #[test]
    fn the_largest_shifts_do_not_overflow() {
        let ring = Cart::new(&[3], &[true]).unwrap();
        assert_eq!(
            ring.shift(1, 0, i32::MIN),
            ((1 + (1i64 << 31)).rem_euclid(3) as i32, (1 - (1i64 << 31)).rem_euclid(3) as i32)
        );
        let row = Cart::new(&[3], &[false]).unwrap();
        assert_eq!(row.shift(1, 0, i32::MIN), (NOBODY, NOBODY));
        assert_eq!(row.shift(1, 0, -1), (2, 0));
    }
}
