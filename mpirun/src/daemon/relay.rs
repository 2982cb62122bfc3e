//! A daemon before it has ranks: it waits for what to launch, and hands on what goes between mpirun and the daemons below it. One on a
//! node without a part in the job does that to the end.

use crate::link::{Channel, DownMessage, FromNode, Launch, Passed, Peer, ToNode, unpack};
use crate::remote::agents::Agents;
use crate::remote::socket;
use crate::remote::subtree::{Subtree, Turn};
use oxmpi_wireup::frame::Malformed;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::time::Instant;

/// Bytes that may wait to be sent to mpirun before ranks, and daemons below, are no longer listened to.
pub const BACKLOG: usize = 8 << 20;

/// Hands on what came for daemons below; what is for this one, too, is returned.
pub fn hand_down(below: Option<&mut Subtree>, down: DownMessage) -> Result<Option<ToNode>, Malformed> {
    match (down, below) {
        (DownMessage::Own(message), _) => Ok(Some(message)),
        (DownMessage::To(node, frame), Some(below)) => {
            below.pass_to(node, frame);
            Ok(None)
        }
        (DownMessage::All(frame), Some(below)) => {
            let message = unpack::<ToNode>(&frame)?;
            below.pass_to_all(&message, &frame);
            Ok(Some(message))
        }
        (DownMessage::To(node, _), None) => Err(Malformed::Value { field: "node below", value: node.into() }),
        (DownMessage::All(_), None) => Err(Malformed::Value { field: "nodes below", value: 0 }),
    }
}

/// The launch that mpirun wants; daemons that were to be started in turn and do not come are told meanwhile. None: mpirun is
/// gone, before it said anything or after a job in which this node had no part.
pub fn await_launch(
    link: &mut Channel,
    agents: &mut Agents,
    below: &mut Option<Subtree>,
) -> Result<Option<Box<Launch>>, String> {
    let mut job = None;
    let mut look_at = Instant::now() + socket::LOOK;
    loop {
        for failure in agents.turn() {
            send(link, &FromNode::Unstarted(failure))?;
        }
        if let Some(launch) = obey(link, &mut job, below)? {
            below.iter_mut().for_each(Subtree::note_ranks);
            return Ok(Some(launch));
        }
        let now = Instant::now();
        let heard = link.unsent() < BACKLOG;
        if let Some(below) = below.as_mut().filter(|_| heard) {
            let mut turn = below.turn();
            if look_at <= now {
                look_at = now + socket::LOOK;
                turn.up.extend(below.look(now));
            }
            pass_up(link, agents, turn)?;
        }
        let wanted = if link.unsent() > 0 { PollFlags::IN | PollFlags::OUT } else { PollFlags::IN };
        let mut fds = vec![PollFd::new(&*link, wanted)];
        fds.extend(below.iter().filter(|_| heard).map(|below| PollFd::new(below, PollFlags::IN)));
        fds.extend(agents.fds());
        let look = Timespec { tv_sec: socket::LOOK.as_secs().cast_signed(), tv_nsec: 0 };
        match poll(&mut fds, Some(&look)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(why) => return Err(format!("cannot wait for mpirun: {why}")),
        }
        drop(fds);
        // On mpirun's own machine the link is no TCP connection, and nobody is deaf.
        let deaf = socket::deaf(&*link);
        link.flush();
        // A frame that came before the end starts a job that would end at once.
        if deaf || link.receive() == Peer::Gone {
            return Ok(None);
        }
    }
}

fn send(link: &mut Channel, message: &FromNode) -> Result<(), String> {
    link.send(message).map_err(|why| why.to_string())
}

fn pass_up(link: &mut Channel, agents: &mut Agents, turn: Turn) -> Result<(), String> {
    turn.arrived.into_iter().for_each(|node| agents.note_there(node));
    turn.up.iter().try_for_each(|passed: &Passed| link.send(passed).map_err(|why| why.to_string()))
}

/// Takes what mpirun has said. Some: all that is to be known for a launch.
fn obey(
    link: &mut Channel,
    job: &mut Option<Box<Launch>>,
    below: &mut Option<Subtree>,
) -> Result<Option<Box<Launch>>, String> {
    let impossible = |why: Malformed| format!("mpirun sent an impossible frame: {why}");
    while let Some(down) = link.take::<DownMessage>().map_err(impossible)? {
        let for_all = matches!(down, DownMessage::All(_));
        match hand_down(below.as_mut(), down).map_err(impossible)? {
            None => {}
            Some(ToNode::Job(launch)) => *job = Some(launch),
            Some(ToNode::Part(part)) => {
                let job = job.take().ok_or("mpirun's first word is not what to launch")?;
                return part.complete(*job).map(|launch| Some(Box::new(launch))).map_err(impossible);
            }
            // For nodes that have ranks.
            Some(_) if for_all => {}
            Some(_) => return Err("mpirun's first word is not what to launch".into()),
        }
    }
    Ok(None)
}
