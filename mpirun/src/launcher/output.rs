//! The ranks' output on its way to the user: marked, merged, copied to files, and written.
//!
//! **Lines stay whole.** A daemon sends whole lines. A line too long to wait for comes in pieces, each
//! but the last saying that more comes: until then nothing else is written behind it (the sink
//! has an owner). An owner that says nothing for [`PATIENCE`] behind what has been written loses that right,
//! because it may wait for a rank whose output waits here. While something is still to be written it cannot be
//! blamed: its window may be full because the reader is slow.
//!
//! **Marks** (`--output tag` and its relatives) stand in front of each line. With marks, a line
//! that another rank did not end is ended before the next mark.

use super::files::OutputFiles;
pub use super::files::Source;
use super::sink::{ClosedSink, Credit, Sink};
use crate::cli::output::{Output as Presentation, Tag};
use crate::link::Stream;
use std::collections::{HashMap, HashSet, VecDeque};
use std::time::{Duration, Instant};

/// A rank that goes on with its line may be without a core for seconds where there are many for few.
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub struct Output {
    how: Presentation,
    outputs: [OwnOutput; 2],
    files: Option<OutputFiles>,
    /// Outputs whose last line is not ended.
    unended: HashSet<(u32, usize)>,
    /// Where each process runs, for the detailed mark.
    places: HashMap<u32, (String, u32)>,
    /// The first process of each job, and the job's number from 1.
    jobs: Vec<(u32, u32)>,
    own_name: String,
}

/// One of mpirun's own outputs.
#[derive(Debug)]
struct OwnOutput {
    sink: Sink,
    /// The output that is in the middle of a line, and since when it says nothing.
    owner: Option<(Source, Instant)>,
    /// The last writer; None: mpirun itself.
    last: Option<Source>,
    waiting: VecDeque<(Source, bool, Vec<u8>, usize)>,
}

impl OwnOutput {
    /// All is written; from now on the owner is waited for.
    fn note_silence(&mut self) {
        if let Some((_, since)) = self.owner.as_mut().filter(|_| self.sink.is_empty()) {
            *since = Instant::now();
        }
    }
}

/// Fate of output that was taken.
#[derive(Debug, Default)]
pub struct OutputFate {
    /// No longer on its way.
    pub credits: Vec<Credit>,
    /// A file that takes no more.
    pub trouble: Option<String>,
}

impl Output {
    /// `host`: of mpirun; `host_of`: of each rank.
    pub fn new(
        how: Presentation,
        host: &str,
        ranks: u32,
        host_of: &dyn Fn(u32) -> String,
    ) -> Result<Output, String> {
        let output =
            |stream| OwnOutput { sink: Sink::new(stream), owner: None, last: None, waiting: VecDeque::new() };
        Ok(Output {
            files: OutputFiles::make(&how, host_of, ranks)?,
            own_name: format!("oxmpi-{host}-{}", std::process::id()),
            how,
            outputs: Stream::ALL.map(output),
            unended: HashSet::new(),
            places: HashMap::new(),
            jobs: vec![(0, 1)],
        })
    }

    /// Adds a job of so many ranks, whose processes are numbered from `base` on; `before`: how many jobs there were before.
    pub fn add_job(
        &mut self,
        before: u32,
        base: u32,
        ranks: u32,
        host_of: &dyn Fn(u32) -> String,
    ) -> Result<(), String> {
        self.jobs.push((base, before + 1));
        match &mut self.files {
            Some(files) => files.add(&self.how, before + 1, base, ranks, host_of),
            None => Ok(()),
        }
    }

    /// Forgets a job that has gone.
    pub fn forget_job(&mut self, base: u32, ranks: u32) {
        self.jobs.retain(|(first, _)| *first != base);
        self.places.retain(|process, _| process.checked_sub(base).is_none_or(|rank| rank >= ranks));
        self.unended.retain(|(process, _)| process.checked_sub(base).is_none_or(|rank| rank >= ranks));
        if let Some(files) = &mut self.files {
            files.forget(base, ranks);
        }
    }

    /// Job, from 1, and rank of a process.
    fn job_of(&self, process: u32) -> (u32, u32) {
        let (first, number) = self.jobs.iter().rev().find(|(first, _)| *first <= process).unwrap_or(&(0, 1));
        (*number, process - first)
    }

    pub fn place(&mut self, rank: u32, host: &str, pid: u32) {
        self.places.insert(rank, (host.to_owned(), pid));
    }

    pub fn sink(&mut self, i: usize) -> &mut Sink {
        &mut self.outputs[i].sink
    }

    /// Outputs of ranks that can be closed because nobody reads this sink any more.
    pub fn streams_of(&self, i: usize) -> Vec<Stream> {
        match (&self.files, self.how.merge, i) {
            (Some(_), ..) => Vec::new(),
            (None, true, 0) => Stream::ALL.to_vec(),
            (None, true, _) => Vec::new(),
            (None, false, _) => vec![Stream::ALL[i]],
        }
    }

    /// Nothing is left to write.
    pub fn is_empty(&self) -> bool {
        self.outputs.iter().all(|output| output.sink.is_empty() && output.waiting.is_empty())
    }

    pub fn pending(&self) -> usize {
        let waiting =
            |output: &OwnOutput| output.waiting.iter().map(|(_, _, bytes, _)| bytes.len()).sum::<usize>();
        self.outputs.iter().map(|output| output.sink.pending() + waiting(output)).sum()
    }

    /// Output of a rank; none at all where it ends inside of a line of which more was promised. `i` says at which sink something is ready to be written now.
    pub fn take(&mut self, source: Source, more: bool, bytes: Vec<u8>) -> (usize, OutputFate) {
        let raw = bytes.len();
        let mut fate = OutputFate::default();
        let marked = self.mark(source, bytes);
        if let Some(files) = &mut self.files {
            fate.trouble = files.write(source, &marked).err();
        }
        let i = if self.how.merge { Stream::Out.index() } else { source.1.index() };
        if self.files.is_some() && self.how.nocopy || self.outputs[i].sink.is_closed() {
            fate.credits.push(Credit { rank: source.0, stream: source.1, bytes: raw });
            return (i, fate);
        }
        let output = &mut self.outputs[i];
        match output.owner {
            Some((owner, _)) if owner != source => output.waiting.push_back((source, more, marked, raw)),
            _ => {
                self.queue(i, source, more, marked, raw);
                self.let_others(i);
            }
        }
        (i, fate)
    }

    /// All output has ended.
    pub fn end_all(&mut self) {
        for i in 0..self.outputs.len() {
            while self.outputs[i].owner.take().is_some() {
                self.let_others(i);
            }
        }
    }

    /// Output that waited behind a long line, as far as nobody owns the sink again.
    fn let_others(&mut self, i: usize) {
        let mut kept = VecDeque::new();
        while let Some((source, more, bytes, raw)) = self.outputs[i].waiting.pop_front() {
            match self.outputs[i].owner {
                Some((owner, _)) if owner != source => kept.push_back((source, more, bytes, raw)),
                _ => {
                    self.queue(i, source, more, bytes, raw);
                    if self.outputs[i].owner.is_none() {
                        // Those that were passed over come first now.
                        kept.append(&mut self.outputs[i].waiting);
                        self.outputs[i].waiting = std::mem::take(&mut kept);
                    }
                }
            }
        }
        self.outputs[i].waiting = kept;
    }

    fn queue(&mut self, i: usize, source: Source, more: bool, mut bytes: Vec<u8>, raw: usize) {
        let output = &mut self.outputs[i];
        output.owner = more.then(|| (source, Instant::now()));
        let marks = self.how.tag != Tag::Nothing || self.how.timestamp;
        if let Some(other) = output.last.filter(|last| marks && *last != source && !output.sink.is_fresh()) {
            bytes.insert(0, b'\n');
            self.unended.remove(&(other.0, other.1.index()));
        }
        output.last = Some(source);
        let (rank, stream) = source;
        output.sink.push(bytes, Some(Credit { rank, stream, bytes: raw }));
    }

    pub fn deadline(&self) -> Option<Instant> {
        let silent =
            self.outputs.iter().filter(|output| output.sink.is_empty()).filter_map(|output| output.owner);
        silent.map(|(_, since)| since + PATIENCE).min()
    }

    /// Takes the sink from an owner that says nothing.
    pub fn advance(&mut self, now: Instant) {
        for i in 0..self.outputs.len() {
            let output = &self.outputs[i];
            if output.sink.is_empty() && output.owner.is_some_and(|(_, since)| since + PATIENCE <= now) {
                self.outputs[i].owner = None;
                self.let_others(i);
            }
        }
    }

    /// Words of mpirun's own, on lines of their own.
    pub fn report(&mut self, i: usize, text: &str) {
        let output = &mut self.outputs[i];
        let fresh = if output.sink.is_fresh() { "" } else { "\n" };
        output.last = None;
        output.sink.push(format!("{fresh}{text}").into_bytes(), None);
    }

    /// One write to a sink that can take it.
    pub fn write(&mut self, i: usize) -> Result<Option<Credit>, ClosedSink> {
        let output = &mut self.outputs[i];
        let done = output.sink.write();
        output.note_silence();
        done.map_err(|mut lost| {
            output.owner = None;
            let waited = output.waiting.drain(..);
            lost.credits.extend(waited.map(|((rank, stream), _, _, bytes)| Credit { rank, stream, bytes }));
            lost
        })
    }

    /// Puts marks in front of lines.
    fn mark(&mut self, source: Source, bytes: Vec<u8>) -> Vec<u8> {
        let Some(mark) = self.mark_of(source) else { return bytes };
        let key = (source.0, source.1.index());
        let mut out = Vec::with_capacity(bytes.len() + 4 * mark.len());
        let mut in_line = self.unended.remove(&key);
        for line in bytes.split_inclusive(|&c| c == b'\n') {
            if !in_line {
                out.extend_from_slice(mark.as_bytes());
            }
            out.extend_from_slice(line);
            in_line = line.last() != Some(&b'\n');
        }
        if in_line {
            self.unended.insert(key);
        }
        out
    }

    fn mark_of(&self, (process, stream): Source) -> Option<String> {
        let (job, rank) = self.job_of(process);
        let time = if self.how.timestamp { format!("[{}]", now()) } else { String::new() };
        let tag = match self.how.tag {
            Tag::Nothing if !self.how.timestamp => return None,
            Tag::Nothing => String::new(),
            Tag::Short => format!("[{job},{rank}]"),
            Tag::Rank if job > 1 => format!("[{job}.{rank}]"),
            Tag::Rank => format!("[{rank}]"),
            Tag::FullName => format!("[{}@{job},{rank}]", self.own_name),
            Tag::Detailed => match self.places.get(&process) {
                Some((host, pid)) => format!("[{job},{rank}][{host}:{pid}]"),
                None => format!("[{job},{rank}]"),
            },
        };
        let stream = match stream {
            Stream::Out => "stdout",
            Stream::Err => "stderr",
        };
        Some(format!("{time}{tag}<{stream}>: "))
    }
}

/// As `date` writes it in the C locale: `Sat Nov 21 16:28:58 2026`.
fn now() -> String {
    let mut text = [0; 64];
    // SAFETY: a null pointer asks for the time alone; localtime_r and strftime write to places of
    // ours, strftime no more than it is told to, with a format that ends in 0.
    let n = unsafe {
        let time = libc::time(std::ptr::null_mut());
        let mut parts = std::mem::zeroed();
        libc::localtime_r(&time, &mut parts);
        libc::strftime(text.as_mut_ptr().cast(), text.len(), c"%a %b %e %H:%M:%S %Y".as_ptr(), &parts)
    };
    String::from_utf8_lossy(&text[..n]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(words: &str) -> Output {
        let mut how = Presentation::default();
        if !words.is_empty() {
            how.add(words).expect(words);
        }
        Output::new(how, "here", 4, &|_| "here".into()).expect("no files")
    }

    fn queued(output: &mut Output, i: usize) -> String {
        String::from_utf8(output.outputs[i].sink.queued()).expect("text")
    }

    #[test]
    fn marks() {
        let mut o = output("tag");
        o.take((1, Stream::Out), false, b"a\nb\n".to_vec());
        o.take((0, Stream::Out), false, b"c".to_vec());
        o.take((2, Stream::Out), false, b"d\n".to_vec());
        o.take((0, Stream::Out), false, b"e\n".to_vec());
        let text =
            "[1,1]<stdout>: a\n[1,1]<stdout>: b\n[1,0]<stdout>: c\n[1,2]<stdout>: d\n[1,0]<stdout>: e\n";
        assert_eq!(queued(&mut o, 0), text);
        let mut o = output("tag-detailed,merge");
        o.place(3, "node", 77);
        o.take((3, Stream::Err), false, b"x\n".to_vec());
        assert_eq!(queued(&mut o, 0), "[1,3][node:77]<stderr>: x\n");
        let mut o = output("timestamp,rank");
        o.take((3, Stream::Err), false, b"x\n".to_vec());
        let text = queued(&mut o, 1);
        assert!(
            text.starts_with('[') && text.ends_with("][3]<stderr>: x\n") && text.contains(" 20"),
            "{text}"
        );
    }

    #[test]
    fn nothing_comes_between_the_pieces_of_a_long_line() {
        let mut o = output("");
        o.take((0, Stream::Out), true, b"long ".to_vec());
        o.take((1, Stream::Out), false, b"b\n".to_vec());
        o.take((2, Stream::Out), true, b"also ".to_vec());
        o.take((3, Stream::Out), false, b"d\n".to_vec());
        o.take((0, Stream::Out), false, b"line\n".to_vec());
        o.take((2, Stream::Out), false, b"long\n".to_vec());
        assert_eq!(queued(&mut o, 0), "long line\nb\nalso long\nd\n");
    }

    #[test]
    fn a_long_line_whose_rest_does_not_come_keeps_nobody_waiting_for_ever() {
        let mut o = output("");
        o.take((0, Stream::Out), true, b"long ".to_vec());
        o.take((1, Stream::Out), false, b"b\n".to_vec());
        assert_eq!(queued(&mut o, 0), "long ");
        assert_eq!(o.deadline(), None, "nobody has read what it said");
        o.advance(Instant::now() + 2 * PATIENCE);
        assert_eq!(queued(&mut o, 0), "long ");
        o.outputs[0].sink.forget();
        o.outputs[0].note_silence();
        o.advance(o.deadline().expect("it is waited for"));
        assert_eq!(queued(&mut o, 0), "b\n");
        let mut o = output("");
        o.take((0, Stream::Out), true, b"x".to_vec());
        o.take((1, Stream::Out), false, b"y".to_vec());
        o.take((0, Stream::Out), false, Vec::new());
        assert_eq!(queued(&mut o, 0), "xy");
    }

    #[test]
    fn what_goes_to_files_only_is_through_at_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut how = Presentation::default();
        how.add(&format!("tag,file={}:nocopy", folder.path().join("log").display())).expect("sound");
        let mut o = Output::new(how, "here", 2, &|_| "here".into()).expect("writable");
        let (_, fate) = o.take((1, Stream::Out), false, b"word\n".to_vec());
        assert_eq!(fate.credits, [Credit { rank: 1, stream: Stream::Out, bytes: 5 }]);
        assert!(o.is_empty());
        let text = std::fs::read_to_string(folder.path().join("log.1.1.out")).expect("there");
        assert_eq!(text, "[1,1]<stdout>: word\n");
    }
}
