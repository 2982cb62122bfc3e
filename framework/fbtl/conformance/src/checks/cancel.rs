//! Early ends.

use crate::{File, Pending};
use oxmpi_fbtl::{Piece, transfer};
use oxmpi_mca::Status;

crate::check!(cancel, |rig| {
    let file = File::new(rig, "cancel");
    let data = vec![3u8; 1 << 18];
    let piece = |i: u64| Piece { offset: i << 18, memory: data.as_ptr().cast_mut(), len: 1 << 18 };
    let submit = |i| file.offer(transfer::WRITE, 0, &[piece(i)]);
    let pending: Vec<Pending> = (0..40).map(submit).collect();
    pending.iter().step_by(2).for_each(|one| file.cancel(one));
    for (i, one) in pending.iter().enumerate() {
        match file.wait(one) {
            (Status::OK, bytes) => assert_eq!(bytes, 1 << 18, "operation {i}"),
            (Status::NOT_AVAILABLE, bytes) => {
                assert!(i % 2 == 0, "operation {i} was not cancelled");
                assert!(bytes <= 1 << 18);
            }
            other => panic!("operation {i}: {other:?}"),
        }
        // It has ended: nothing happens.
        file.cancel(one);
    }
    // All goes on as before.
    assert_eq!(file.write(0, 0, &data), (Status::OK, 1 << 18));
});
