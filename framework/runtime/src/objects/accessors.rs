//! Reads fields of instances and communicators.

use super::*;
use crate::group::ProcId;
use oxmpi_mca::MsgStatus;

impl Instance {
    /// This rank as a process and its endpoint 0.
    pub fn me(&self) -> ProcId {
        ProcId { proc: self.job.rank, endpoint: 0 }
    }

    /// The launcher's facts.
    pub fn facts(&self) -> &wireup::JobFacts {
        self.client.facts()
    }

    /// The job's facts as components see them.
    pub fn job(&self) -> &JobInfo {
        &self.job
    }

    /// The table from slots to requests.
    pub fn requests(&self) -> &Table {
        &self.requests
    }

    /// The means by which handlers of signals that end the process report to the daemon; `None`: nobody would hear
    /// them.
    pub fn witness(&self) -> Option<&wireup::Witness> {
        self.client.witness()
    }

    /// The host name that MPI_Get_processor_name returns.
    pub fn processor_name(&self) -> String {
        self.client.facts().hostname.clone()
    }

    /// The printer of lines on the standard error.
    pub(crate) fn logger(&self) -> &Logger {
        &self.settings.logger
    }

    /// The opened PML; `None` before the components are open.
    pub(crate) fn pml(&self) -> Option<&Pml> {
        self.parts.get().map(|p| &p.pml)
    }

    /// The opened collective components.
    pub(crate) fn coll_components(&self) -> &[CollComponent] {
        self.parts.get().map_or(&[], |p| &p.colls)
    }

    /// The services that collective components get outside of plans.
    pub(crate) fn coll_services(&self) -> *const CollServices {
        self.coll_services
    }

    /// The function that stands in for a collective component that is to be prepared.
    pub(crate) fn coll_preparer(&self) -> CollFn {
        self.coll_preparer
    }

    /// Collectives of a communicator before a component is prepared for it.
    pub(crate) fn prepare_after(&self) -> u32 {
        self.settings.params.prepare_after
    }

    /// The opened one-sided components.
    pub(crate) fn osc_components(&self) -> &[OscComponent] {
        self.parts.get().map_or(&[], |p| &p.oscs)
    }

    /// The table of the receivers of active messages.
    pub(crate) fn am_table(&self) -> &AmTable {
        &self.am
    }

    /// The type of one byte, for the library's own messages.
    pub(crate) fn byte_type(&self) -> &TypeDesc {
        &self.byte.desc
    }

    /// Makes a communicator id that no other rank of the job makes, from this rank and a count of its own.
    pub(crate) fn fresh_gid(&self) -> Gid {
        let me = self.me();
        gid::fresh(self.job.job_id, me.proc, me.endpoint, self.births.fresh.fetch_add(1, Ordering::Relaxed))
    }

    /// Whether the calling process is a forked child of the one that started the instance.
    pub(crate) fn in_child(&self) -> bool {
        std::process::id() != self.life.pid
    }

    /// Adds a communicator to those that the end of the instance closes.
    pub(crate) fn remember(&self, communicator: &Arc<Communicator>) {
        let mut live = self.life.live.lock();
        if live.len() == live.capacity() {
            live.retain(|c| c.strong_count() > 0);
        }
        live.push(Arc::downgrade(communicator));
    }

    /// Puts a value under a key into the process's exchange of addresses, which the start publishes if there is any.
    pub(crate) fn exchange_put(&self, key: &str, value: &[u8]) {
        self.client.put(key, value);
        self.published.store(true, Ordering::Relaxed);
    }

    /// Gets the value that a process has published under a key, and waits for the daemon's answer; `None`: there is no
    /// such key.
    pub(crate) fn exchange_get(&self, proc: u32, key: &str) -> Result<Option<Vec<u8>>, wireup::Error> {
        match self.is_stranger(proc) {
            true => Ok(self.stranger_value(proc, key)),
            false => self.client.get(proc, key),
        }
    }

    /// Whether an index is that of a process of another job, known or not.
    #[inline(always)]
    pub(crate) fn is_stranger(&self, proc: u32) -> bool {
        proc >= self.job.job_size
    }

    /// The value that a process of another job has published in its own job.
    pub(crate) fn stranger_value(&self, proc: u32, key: &str) -> Option<Vec<u8>> {
        let profile = self.strangers.profile(proc)?;
        let found = profile.published.iter().find(|(name, _)| name == key);
        found.map(|(_, value)| value.clone())
    }

    /// Runs `f` behind the progress functions of every turn.
    ///
    /// # Safety
    /// It may be called with the argument in any thread that makes turns, until the engine is cleared.
    pub(crate) unsafe fn follow_progress(&self, f: ProgressFn, ctx: *mut c_void) {
        // SAFETY: the caller's promise.
        unsafe { self.waiting.engine().register_follower(f, ctx) };
    }

    /// The CRIs, by number.
    #[inline(always)]
    pub(crate) fn cris(&self) -> &[Cri] {
        &self.cris
    }

    /// Requests for counting, and counts of what is gone.
    pub(crate) fn counting_state(&self) -> &Counting {
        &self.counting
    }

    /// Parameters of the host, as it uses them.
    #[inline(always)]
    pub(crate) fn host_params(&self) -> &HostParams {
        &self.settings.params
    }

    /// The opened components; `None` before they are open.
    #[inline(always)]
    pub(crate) fn parts(&self) -> Option<&Parts> {
        self.parts.get()
    }

    /// Keeps the opened components. False: there are some already.
    pub(crate) fn set_parts(&self, parts: Parts) -> bool {
        self.parts.set(parts).is_ok()
    }

    /// Whether something was put into the process's exchange of addresses.
    pub(crate) fn has_published(&self) -> bool {
        self.published.load(Ordering::Relaxed)
    }
}

/// Reads the parts of an instance.
macro_rules! parts {
    ($($(#[$doc:meta])* $name:ident: $part:ty;)*) => {
        impl Instance {
            $($(#[$doc])*
            #[inline(always)]
            pub(crate) fn $name(&self) -> &$part {
                &self.$name
            })*
        }
    };
}

parts! {
    /// How its threads wait.
    waiting: Waiting;
    /// The thread level.
    levels: Levels;
    /// Requests that the host makes.
    makers: Makers;
    /// Endpoints by process, and the cache of registrations.
    transports: Transports;
    /// Processes that have failed, and who hears of it.
    failures: Failures;
    /// Memory of the node that components share.
    node_memories: NodeMemories;
    /// Process cards.
    cards: Cards;
    /// Processes of other jobs.
    strangers: Strangers;
    /// Ports that are open.
    ports: OpenPorts;
    /// Connections to a server of names.
    served_names: Mutex<Vec<wireup::port::Link>>;
    /// Service contexts.
    service: Service;
    /// Emulated transports.
    emulation: Emulation;
    /// Files.
    files: Files;
    /// The conversation with the node's daemon.
    client: wireup::Client;
    /// Parameters.
    settings: Settings;
    /// Numbers of new communicators.
    births: Births;
    /// Objects that end with it.
    life: Life;
    /// Hooks before an abort.
    before_abort: BeforeAbort;
}

impl Communicator {
    /// The calling rank's number in the (local) group.
    #[inline(always)]
    pub fn rank(&self) -> u32 {
        self.hot.rank
    }

    /// The number of ranks in the (local) group.
    #[inline(always)]
    pub fn size(&self) -> u32 {
        self.size
    }

    /// The group; of an inter-communicator the local one.
    pub fn group(&self) -> &Group {
        &self.group
    }

    /// The global id, equal at all ranks.
    pub fn gid(&self) -> Gid {
        self.gid
    }

    /// The remote group; `None`: it is no inter-communicator.
    pub fn remote_group(&self) -> Option<&Group> {
        self.remote.as_ref().map(|r| &r.group)
    }

    /// The number of ranks that messages may name: those of the remote group, if there is one, else of the group.
    pub fn num_peers(&self) -> u32 {
        self.remote_group().map_or(self.size, Group::size)
    }

    /// The other side of an inter-communicator: remote group and local communicator.
    pub(crate) fn remote(&self) -> Option<&Remote> {
        self.remote.as_ref()
    }

    /// The local group of an inter-communicator as a communicator of the library's own; `None`: it is no
    /// inter-communicator.
    pub(crate) fn local(&self) -> Option<&Communicator> {
        self.remote.as_ref().map(|r| &*r.local)
    }

    /// Keeps what is known of a collective's message that was longer than its place, for [`Communicator::take_truncated`].
    #[cold]
    pub(crate) fn note_truncated(&self, status: &MsgStatus) {
        self.truncated.lock().get_or_insert(*status);
    }

    /// Takes what is known of the message by which the last blocking collective failed with TRUNCATED: its `source`, the
    /// bytes of its place, and in `cancelled` those that did not fit. `None`: it was no message (data of this process).
    pub fn take_truncated(&self) -> Option<MsgStatus> {
        let of_local = self.local().and_then(Communicator::take_truncated);
        self.truncated.lock().take().or(of_local)
    }

    /// The internal communicators over which constructors send that only some ranks call, by
    /// [`crate::wires::Wire`].
    pub(crate) fn wires(&self) -> &Mutex<[Option<Arc<Communicator>>; 2]> {
        &self.wires
    }

    /// The instance of the calling rank.
    #[inline(always)]
    pub fn instance(&self) -> &Instance {
        &self.instance
    }

    /// The shared pointer to the instance, for objects that keep it alive.
    pub(crate) fn shared_instance(&self) -> &Arc<Instance> {
        &self.instance
    }

    /// The place where partitioned messages find their partners; made at the first call.
    pub(crate) fn meeting(&self) -> &Meeting {
        self.meeting.get_or_init(Meeting::default)
    }

    /// The context on which this rank prefers to send; `None`: that of its endpoint, or any.
    pub fn hint(&self) -> Option<u32> {
        self.hint
    }

    /// Counts a constructor call on this communicator and returns its number from 0. All ranks make those calls in the
    /// same order, so the number is equal at all.
    pub(crate) fn next_child(&self) -> u64 {
        self.children.fetch_add(1, Ordering::Relaxed)
    }

    /// The name that MPI_Comm_get_name returns.
    pub fn name(&self) -> String {
        self.text.lock().name.clone()
    }

    /// The value of [`RequestHeader::comm`]: the address of this communicator.
    #[inline(always)]
    pub fn host_comm_ptr(&self) -> *mut c_void {
        self as *const Communicator as *mut c_void
    }
}
