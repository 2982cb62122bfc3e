//! A process's memory map, and the files that say what lies in it.

use addr2line::Loader;
use framehop::{ExplicitModuleSectionInfo, Module};
use object::read::elf::{ElfFile64, FileHeader, ProgramHeader, SectionHeader};
use std::collections::HashMap;
use std::fmt::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Largest file whose unwind tables are read.
const LARGEST: u64 = 2 << 30;

/// The mappings of a process that have a file.
#[derive(Debug, Default)]
pub struct Image {
    mappings: Vec<Mapping>,
}

#[derive(Debug)]
struct Mapping {
    range: Range<u64>,
    offset: u64,
    code: bool,
    path: PathBuf,
}

impl Image {
    /// Reads `/proc/PID/maps`. Lines that make no sense are left out.
    pub fn parse(maps: &[u8]) -> Image {
        let text = String::from_utf8_lossy(maps);
        Image { mappings: text.lines().filter_map(mapping).collect() }
    }

    pub fn is_code(&self, address: u64) -> bool {
        self.mapping(address).is_some_and(|m| m.code)
    }

    /// The file whose code or data is at an address; an empty path where there is none.
    pub fn file_of(&self, address: u64) -> &Path {
        self.mapping(address).map_or(Path::new(""), |m| &m.path)
    }

    /// The addresses of the first mapping of a file of this name, which may be a deleted one or have none but this.
    pub fn range_of(&self, name: &str) -> Option<Range<u64>> {
        let is_it = |m: &&Mapping| m.path.to_string_lossy().contains(name);
        self.mappings.iter().find(is_it).map(|m| m.range.clone())
    }

    fn mapping(&self, address: u64) -> Option<&Mapping> {
        self.mappings.iter().find(|m| m.range.contains(&address))
    }
}

fn mapping(line: &str) -> Option<Mapping> {
    let mut words = line.splitn(6, ' ');
    let (range, rights, offset) = (words.next()?, words.next()?, words.next()?);
    let path = words.nth(2).unwrap_or("").trim_start();
    let (start, end) = range.split_once('-')?;
    let number = |text| u64::from_str_radix(text, 16).ok();
    let range = number(start)?..number(end)?;
    let code = rights.as_bytes().get(2) == Some(&b'x');
    Some(Mapping { range, offset: number(offset)?, code, path: path.into() })
}

/// Files that have been read.
#[derive(Default)]
pub struct Files {
    tables: HashMap<PathBuf, Option<Tables>>,
    names: HashMap<PathBuf, Option<Loader>>,
}

impl std::fmt::Debug for Files {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} files", self.tables.len())
    }
}

/// Sections of a file that unwinding needs.
#[derive(Clone)]
struct Tables {
    /// Places in the file and where they are to be in memory.
    segments: Vec<Segment>,
    sections: ExplicitModuleSectionInfo<Vec<u8>>,
}

#[derive(Clone, Copy)]
struct Segment {
    offset: u64,
    size: u64,
    address: u64,
    code: bool,
}

impl Tables {
    /// The address in the file's own terms of a place in the file.
    fn stated(&self, offset: u64, code: bool) -> Option<u64> {
        // A mapping starts at a page, a segment where it likes: two may share a page of the file,
        // and what a mapping is for says which of them it shows.
        let segment = self.segments.iter().filter(|s| s.code == code).find(|s| {
            let start = s.offset & !0xfff;
            (start..s.offset.saturating_add(s.size)).contains(&offset)
        })?;
        segment.address.checked_add(offset).and_then(|a| a.checked_sub(segment.offset))
    }
}

impl Files {
    /// Everything with code in it.
    pub fn modules(&mut self, image: &Image) -> Vec<Module<Vec<u8>>> {
        let mut modules = Vec::new();
        for mapping in image.mappings.iter().filter(|m| m.code) {
            let Some(tables) = self.tables(&mapping.path) else { continue };
            let Some(stated) = tables.stated(mapping.offset, true) else { continue };
            let name = mapping.path.display().to_string();
            let base = mapping.range.start.wrapping_sub(stated);
            modules.push(Module::new(name, mapping.range.clone(), base, tables.sections.clone()));
        }
        modules
    }

    fn tables(&mut self, path: &Path) -> Option<&Tables> {
        if !self.tables.contains_key(path) {
            self.tables.insert(path.to_owned(), tables(path));
        }
        self.tables.get(path)?.as_ref()
    }

    /// One frame; several lines where functions are inlined.
    pub fn describe(&mut self, image: &Image, number: usize, address: u64, lookup: u64, out: &mut String) {
        let mut line = |what: std::fmt::Arguments<'_>, first: bool| {
            let number = if first { format!("#{number}") } else { String::new() };
            // Writing to a text cannot fail.
            let _ = writeln!(out, "  {number:<3} {address:#018x}  {what}");
        };
        let Some(mapping) = image.mapping(lookup) else {
            return line(format_args!("(not in any file)"), true);
        };
        let offset = lookup - mapping.range.start + mapping.offset;
        let (path, code) = (mapping.path.clone(), mapping.code);
        let file = path.file_name().map_or_else(|| "anonymous memory".into(), |name| name.to_string_lossy());
        let stated = self.tables(&path).and_then(|tables| tables.stated(offset, code));
        let place = format!("({file}+{:#x})", stated.unwrap_or(offset));
        let Some(stated) = stated else { return line(format_args!("{place}"), true) };
        let names = self.names.entry(path.clone()).or_insert_with(|| Loader::new(&path).ok());
        let Some(names) = names else { return line(format_args!("{place}"), true) };
        let mut first = true;
        if let Ok(mut frames) = names.find_frames(stated) {
            while let Ok(Some(frame)) = frames.next() {
                let Some(function) =
                    frame.function.as_ref().and_then(|f| Some(f.demangle().ok()?.into_owned()))
                else {
                    continue;
                };
                match frame.location.as_ref().and_then(|l| Some((l.file?, l.line?))) {
                    Some((file, number)) => {
                        line(format_args!("{function} at {file}:{number}  {place}"), first)
                    }
                    None => line(format_args!("{function}  {place}"), first),
                }
                first = false;
            }
        }
        if first {
            match names.find_symbol(stated) {
                Some(symbol) => {
                    let symbol = addr2line::demangle_auto(symbol.into(), None);
                    line(format_args!("{symbol}  {place}"), true);
                }
                None => line(format_args!("{place}"), true),
            }
        }
    }
}

fn tables(path: &Path) -> Option<Tables> {
    // Only a file, and one of a size that fits: a mapping may have a device behind it.
    let about = std::fs::metadata(path).ok().filter(|about| about.is_file() && about.len() < LARGEST)?;
    let bytes = std::fs::read(path).ok().filter(|bytes| bytes.len() as u64 <= about.len())?;
    let elf = ElfFile64::<object::Endianness>::parse(&*bytes).ok()?;
    let endian = elf.endian();
    let segments = elf
        .elf_program_headers()
        .iter()
        .filter(|header| header.p_type(endian) == object::elf::PT_LOAD)
        .map(|header| Segment {
            offset: header.p_offset(endian),
            size: header.p_filesz(endian),
            address: header.p_vaddr(endian),
            code: header.p_flags(endian).0 & 1 != 0,
        })
        .collect();
    let headers = elf.elf_header().sections(endian, &*bytes).ok()?;
    let section = |name: &[u8]| {
        let (_, header) = headers.section_by_name(endian, name)?;
        let data = header.data(endian, &*bytes).ok()?;
        let start = header.sh_addr(endian);
        Some((start..start.checked_add(data.len() as u64)?, data.to_vec()))
    };
    let mut sections = ExplicitModuleSectionInfo::default();
    if let Some((range, data)) = section(b".text") {
        (sections.text_svma, sections.text) = (Some(range), Some(data));
    }
    if let Some((range, data)) = section(b".eh_frame") {
        (sections.eh_frame_svma, sections.eh_frame) = (Some(range), Some(data));
    }
    if let Some((range, data)) = section(b".eh_frame_hdr") {
        (sections.eh_frame_hdr_svma, sections.eh_frame_hdr) = (Some(range), Some(data));
    }
    if let Some((range, _)) = section(b".got") {
        sections.got_svma = Some(range);
    }
    Some(Tables { segments, sections })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps() {
        let image = Image::parse(
            b"00400000-00452000 r-xp 00001000 08:02 173521      /usr/bin/a b\n\
              7ffc0000-7ffd0000 rw-p 00000000 00:00 0          [stack]\nnonsense\n\
              7f000000-7f001000 r--p 00000000 00:00 0\n",
        );
        assert_eq!(image.mappings.len(), 3);
        assert_eq!(image.mappings[0].path, Path::new("/usr/bin/a b"));
        assert!(image.is_code(0x40_0000) && !image.is_code(0x45_2000) && !image.is_code(0x7ffc_0001));
    }
}
