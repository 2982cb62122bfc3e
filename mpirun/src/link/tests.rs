use super::*;
use crate::remote::agents::How;
use oxmpi_runtime::wireup::frame::Inbox;
use proptest::prelude::*;

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
        hold: true,
    };
    let message = ToNode::Launch(Box::new(launch.clone()));
    assert_eq!(again(&message).encode(), message.encode());
    let wrong = Launch { places: vec![Place { program: 2, processors: vec![] }; 2], ..launch };
    let bytes = ToNode::Launch(Box::new(wrong)).encode().expect("short");
    let mut inbox = Inbox::new(LIMIT);
    inbox.extend(&bytes);
    assert!(ToNode::decode(inbox.next().expect("well-formed").expect("whole")).is_err());
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
            FromNode::CannotStart { rank, errno: code },
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
            FromNode::Unstarted(Failure {
                nodes: vec![rank, pid],
                how: if core { How::Signal(code) } else { How::Never(text.clone()) },
                words: text.clone(),
                command: text.clone(),
            }),
            FromNode::Here(Box::new(NodeFacts { pid, ..NodeFacts::own().expect("this node") })),
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
    }
}
