//! The kernel's questions about one folder of files, answered by a [`Behaviour`].
//!
//! Data passes the kernel's cache by (`FOPEN_DIRECT_IO`): each read and write of a program is a question here, and what is answered is what the program gets.

use crate::server::{Answer, Owner, Server};
use fuser::*;
use std::ffi::OsStr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

/// Something to be done now or later, in any thread.
pub type Work = Box<dyn FnOnce() + Send>;

/// The answers of a file system to questions about data and attributes.
pub trait Behaviour: Send + Sync + Clone + 'static {
    /// The files.
    fn server(&self) -> &Server;
    /// The machine's number.
    fn machine(&self) -> u64 {
        0
    }
    /// How long the kernel may believe attributes.
    fn attributes_last(&self) -> Duration {
        Duration::ZERO
    }
    /// Locks are the server's; otherwise the kernel's own.
    fn has_locks(&self) -> bool {
        false
    }
    /// Space can be had without writing; otherwise the kernel hears that there is no such question.
    fn has_space_ahead(&self) -> bool {
        true
    }
    fn read(&self, file: u64, offset: u64, len: usize) -> Answer<Vec<u8>>;
    /// Answers how many bytes were taken.
    fn write(&self, file: u64, offset: u64, data: &[u8]) -> Answer<usize>;
    fn resize(&self, file: u64, bytes: u64) -> Answer<()>;
    /// The length, asked for anew.
    fn length(&self, file: u64) -> Answer<u64>;
    fn opened(&self, file: u64) -> Answer<()>;
    /// Has what was written reach the server.
    fn flush(&self, file: u64) -> Answer<()>;
    /// Has something done that belongs to a read or a write.
    fn carry(&self, work: Work) {
        work();
    }
}

pub struct Served<B> {
    behaviour: B,
    handles: AtomicU64,
}

impl<B: Behaviour> Served<B> {
    pub fn new(behaviour: B) -> Served<B> {
        Served { behaviour, handles: AtomicU64::new(0) }
    }

    fn handle(&self) -> FileHandle {
        FileHandle(self.handles.fetch_add(1, Ordering::Relaxed) + 1)
    }

    fn attr(&self, ino: INodeNo) -> Answer<FileAttr> {
        let is_folder = ino == INodeNo::ROOT;
        let (size, perm) = match is_folder {
            true => (0, 0o777),
            false => (
                self.behaviour.length(ino.0)?,
                self.behaviour.server().with(ino.0, |stored| stored.permissions)?,
            ),
        };
        let never = SystemTime::UNIX_EPOCH;
        Ok(FileAttr {
            ino,
            size,
            blocks: size.div_ceil(512),
            atime: never,
            mtime: never,
            ctime: never,
            crtime: never,
            kind: if is_folder { FileType::Directory } else { FileType::RegularFile },
            perm,
            nlink: 1,
            uid: rustix::process::getuid().as_raw(),
            gid: rustix::process::getgid().as_raw(),
            rdev: 0,
            blksize: 4096,
            flags: 0,
        })
    }
}

/// Sends an answer, or the error.
macro_rules! answer {
    ($reply:ident, $of:expr, $value:pat => $good:expr) => {
        match $of {
            Ok($value) => $good,
            Err(errno) => $reply.error(Errno::from_i32(errno)),
        }
    };
}

impl<B: Behaviour> Filesystem for Served<B> {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> std::io::Result<()> {
        if self.behaviour.has_locks() {
            let added = config.add_capabilities(InitFlags::FUSE_POSIX_LOCKS);
            added.map_err(|_| std::io::Error::other("the kernel asks no file system for locks"))?;
        }
        Ok(())
    }

    fn lookup(&self, _: &Request, _: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let found = self.behaviour.server().find(name).and_then(|file| self.attr(INodeNo(file)));
        // A name may be taken away by another machine.
        answer!(reply, found, attr => {
            reply.entry_with_ttls(&self.behaviour.attributes_last(), &Duration::ZERO, &attr, Generation(0))
        });
    }

    fn getattr(&self, _: &Request, ino: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        answer!(reply, self.attr(ino), attr => reply.attr(&self.behaviour.attributes_last(), &attr));
    }

    fn setattr(
        &self,
        _: &Request,
        ino: INodeNo,
        _: Option<u32>,
        _: Option<u32>,
        _: Option<u32>,
        size: Option<u64>,
        _: Option<TimeOrNow>,
        _: Option<TimeOrNow>,
        _: Option<SystemTime>,
        _: Option<FileHandle>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let set = size.map_or(Ok(()), |size| self.behaviour.resize(ino.0, size));
        let attr = set.and_then(|()| self.attr(ino));
        answer!(reply, attr, attr => reply.attr(&self.behaviour.attributes_last(), &attr));
    }

    fn unlink(&self, _: &Request, _: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        answer!(reply, self.behaviour.server().unlink(name), () => reply.ok());
    }

    fn open(&self, _: &Request, ino: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        answer!(reply, self.behaviour.opened(ino.0), () => {
            reply.opened(self.handle(), FopenFlags::FOPEN_DIRECT_IO)
        });
    }

    fn create(
        &self,
        _: &Request,
        _: INodeNo,
        name: &OsStr,
        mode: u32,
        umask: u32,
        _: i32,
        reply: ReplyCreate,
    ) {
        let made = self.behaviour.server().create(name, (mode & !umask & 0o7777) as u16);
        let made = made.and_then(|file| self.behaviour.opened(file).and_then(|()| self.attr(INodeNo(file))));
        answer!(reply, made, attr => {
            let last = self.behaviour.attributes_last();
            reply.created(&last, &attr, Generation(0), self.handle(), FopenFlags::FOPEN_DIRECT_IO)
        });
    }

    fn read(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let behaviour = self.behaviour.clone();
        self.behaviour.carry(Box::new(move || {
            answer!(reply, behaviour.read(ino.0, offset, size as usize), data => reply.data(&data));
        }));
    }

    fn write(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let (behaviour, data) = (self.behaviour.clone(), data.to_vec());
        self.behaviour.carry(Box::new(move || {
            answer!(reply, behaviour.write(ino.0, offset, &data), bytes => reply.written(bytes as u32));
        }));
    }

    fn flush(&self, _: &Request, ino: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        answer!(reply, self.behaviour.flush(ino.0), () => reply.ok());
    }

    fn fsync(&self, _: &Request, ino: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        answer!(reply, self.behaviour.flush(ino.0), () => reply.ok());
    }

    fn fallocate(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        offset: u64,
        length: u64,
        _: i32,
        reply: ReplyEmpty,
    ) {
        if !self.behaviour.has_space_ahead() {
            return reply.error(Errno::ENOSYS);
        }
        let had = self.behaviour.length(ino.0);
        let given = had.and_then(|had| match offset + length {
            end if end > had => self.behaviour.resize(ino.0, end),
            _ => Ok(()),
        });
        answer!(reply, given, () => reply.ok());
    }

    fn release(
        &self,
        _: &Request,
        _: INodeNo,
        fh: FileHandle,
        _: OpenFlags,
        _: Option<LockOwner>,
        _: bool,
        reply: ReplyEmpty,
    ) {
        self.behaviour.server().closed(self.behaviour.machine(), fh.0);
        reply.ok();
    }

    fn readdir(&self, _: &Request, _: INodeNo, _: FileHandle, offset: u64, mut reply: ReplyDirectory) {
        let own = [(".".into(), 1), ("..".into(), 1)];
        let all = own.into_iter().chain(self.behaviour.server().list());
        for (at, (name, file)) in all.enumerate().skip(offset as usize) {
            let kind = if file == 1 { FileType::Directory } else { FileType::RegularFile };
            if reply.add(INodeNo(file), at as u64 + 1, kind, name) {
                break;
            }
        }
        reply.ok();
    }

    fn access(&self, _: &Request, _: INodeNo, _: AccessFlags, reply: ReplyEmpty) {
        reply.ok();
    }

    fn setlk(
        &self,
        _: &Request,
        ino: INodeNo,
        fh: FileHandle,
        lock_owner: LockOwner,
        start: u64,
        end: u64,
        typ: i32,
        _: u32,
        sleep: bool,
        reply: ReplyEmpty,
    ) {
        let (behaviour, machine) = (&self.behaviour, self.behaviour.machine());
        let (owner, server) = (Owner { machine, word: lock_owner.0 }, behaviour.server());
        // A lock is a point at which machines see each other's data: what was written is sent, and what is kept is asked for anew.
        let sent = behaviour.flush(ino.0);
        let locked = sent.and_then(|()| match typ {
            libc::F_UNLCK => {
                server.unlock(ino.0, owner, (start, end));
                Ok(())
            }
            _ if sleep => Err(libc::EDEADLK),
            kind => {
                server.lock((ino.0, fh.0, owner), (start, end), kind == libc::F_WRLCK)?;
                behaviour.length(ino.0).map(|_| ())
            }
        });
        answer!(reply, locked, () => reply.ok());
    }
}
