use super::*;
use crate::remote::agents::{AgentEnd, Failure};
use crate::remote::doors::Doors;
use crate::remote::facts::NodeFacts;
use oxmpi_wireup::frame::{Frame, Inbox};
use oxmpi_wireup::{AppFacts, NodeMap, Secret};
use proptest::prelude::*;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

fn again<M: Message>(message: &M) -> M {
    let mut inbox = Inbox::new(LIMIT);
    inbox.extend(&message.encode().expect("short"));
    M::decode(inbox.next().expect("well-formed").expect("whole")).expect("decodes")
}

#[test]
fn a_launch_survives() {
    let launch = Launch {
        job_id: 7,
        secret: Secret::from_bytes([3; 32]),
        map: NodeMap::of(&[1, 0, 1]),
        node: 1,
        node_names: vec!["there".into(), "here".into()],
        local_ranks: vec![0, 2],
        cores: 2,
        oversubscribed: false,
        params: vec![("btl".into(), "shm".into())],
        programs: vec![
            Program::default(),
            Program {
                program: "true".into(),
                arguments: vec!["".into(), "-x".into()],
                folder: Some("/tmp".into()),
                any_folder: true,
                clear: true,
                unset: vec!["B".into()],
                environment: vec![("A".into(), OsString::from_vec(vec![0xff]))],
            },
        ],
        places: vec![Place { program: 1, processors: vec![0] }, Place { program: 0, processors: vec![1, 2] }],
        apps: vec![AppFacts { ranks: 2, command: "true".into(), ..AppFacts::default() }],
        universe: 9,
        interactive: true,
        raw: true,
        stdin: Stdin::Copies(vec![1]),
        tree: 5,
        sites: vec![4, 1],
        parent: "oxmpi1:x".into(),
        doors: Doors::new(vec![vec!["10.0.0.1:4000".parse().expect("sound")], Vec::new()]),
        hold: true,
    };
    let message = ToNode::Job(Box::new(launch.clone()));
    let ToNode::Job(job) = again(&message) else { panic!("another message") };
    assert_eq!(job.encode().finish(), message.encode());
    let own = || Part { node: launch.node, cores: launch.cores, places: launch.places.clone() };
    let ToNode::Part(part) = again(&ToNode::Part(own())) else { panic!("another message") };
    assert_eq!(part, own());
    let whole = part.clone().complete(*job.clone()).expect("its own");
    assert_eq!(format!("{whole:?}"), format!("{launch:?}"));
    for wrong in [
        Part { places: vec![Place { program: 2, processors: vec![] }; 2], ..part.clone() },
        Part { places: vec![Place::default()], ..part.clone() },
        Part { node: 7, places: vec![], ..part },
    ] {
        assert!(wrong.complete(*job.clone()).is_err());
    }
}

#[test]
fn envelopes_are_taken_out_once() {
    let (signal, done) =
        (ToNode::Signal(7).encode().expect("short"), FromNode::Done.encode().expect("short"));
    let DownMessage::To(5, frame) = again(&DownMessage::To(5, signal.clone())) else { panic!("another") };
    assert_eq!(frame, signal);
    let DownMessage::All(frame) = again(&DownMessage::All(signal.clone())) else { panic!("another") };
    assert!(matches!(unpack(&frame), Ok(ToNode::Signal(7))));
    assert!(matches!(again(&DownMessage::Own(ToNode::Signal(7))), DownMessage::Own(ToNode::Signal(7))));
    for node in [None, Some(9)] {
        let passed = Passed { node, frame: done.clone() };
        assert_eq!(again(&passed), passed);
        assert_eq!(unpack::<FromNode>(&passed.frame), Ok(FromNode::Done));
    }
    assert!(unpack::<FromNode>(&done[..done.len() - 1]).is_err(), "not whole");
    assert!(unpack::<FromNode>(&[&done[..], &done[..]].concat()).is_err(), "two");
}

proptest! {
    #[test]
    fn reports_survive(rank: u32, pid: u32, code: i32, core: bool, text in ".{0,80}", bytes: Vec<u8>) {
        for message in [
            FromNode::Output { stream: Stream::Err, rank, more: core, bytes },
            FromNode::Started(vec![(rank, pid), (pid, rank)]),
            FromNode::Crashed { rank, report: text.clone() },
            FromNode::State { rank, pid, state: text.clone(), stack: text.clone() },
            FromNode::Counted,
            FromNode::Exited { rank, pid, ending: Ending::Exit(code), mpi: Mpi::Inside },
            FromNode::Exited { rank, pid, ending: Ending::Signal { number: code, core }, mpi: Mpi::Never },
            FromNode::CannotStart { rank, errno: code, limits: text.clone() },
            FromNode::OtherMpi { rank, library: text.clone() },
            FromNode::Help { rank, component: text.clone(), topic: text.clone(), text: text.clone() },
            FromNode::Abort {
                rank,
                pid,
                code,
                origin: text.clone(),
                message: text.clone(),
                peer: core.then_some(rank),
            },
            FromNode::Exchange(Exchange::Fence),
            FromNode::Exchange(Exchange::Gone { rank }),
            FromNode::Exchange(Exchange::Never { rank, pid }),
            FromNode::Exchange(Exchange::Ask { from: rank, proc: pid, key: text.clone() }),
            FromNode::Exchange(Exchange::Answer { to: rank, proc: pid, key: text.clone(), values: vec![(pid, None)], whole: false }),
            FromNode::Exchange(Exchange::Answer { to: 0, proc: pid, key: text.clone(), values: vec![(pid, Some(vec![3, 4])), (1, Some(vec![]))], whole: true }),
            FromNode::Vanished { rank, pid },
            FromNode::NeverInit { rank, pid, waiting: rank },
            FromNode::Broken { rank, pid, why: text.clone() },
            FromNode::Failed(text.clone()),
            FromNode::Took { bytes: pid, over: core },
            FromNode::Barred { node: pid, why: text.clone() },
            FromNode::Refused(text.clone()),
            FromNode::Unstarted(Failure {
                nodes: vec![rank, pid],
                how: if core { AgentEnd::Signal(code) } else { AgentEnd::Never(text.clone()) },
                words: text.clone(),
                command: text.clone(),
            }),
            FromNode::Here(Box::new(NodeFacts { pid, ..NodeFacts::own().expect("this node") })),
            FromNode::Lost { nodes: vec![rank, pid], how: text.clone() },
            FromNode::Done,
        ] {
            prop_assert_eq!(again(&message), message);
        }
    }

    #[test]
    fn any_payload_decodes_or_is_refused(kind: u8, payload in prop::collection::vec(any::<u8>(), 0..300)) {
        let frame = Frame { kind, payload: &payload };
        let _ = ToNode::decode(frame);
        let _ = FromNode::decode(frame);
        let _ = DownMessage::decode(frame);
        let _ = Passed::decode(frame);
        let _ = unpack::<FromNode>(&payload);
    }
}
