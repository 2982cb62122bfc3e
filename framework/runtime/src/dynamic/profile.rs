//! A process's description of itself for processes of other jobs: its name, where it is, and everything that it has published in its own job.
//!
//! The owner of a process's profile can do what processes of its job can by the key-value store, and asks nobody.

use oxmpi_mca::ProcName;

/// Raise it with every change of the layout.
pub(crate) const VERSION: u32 = 1;
/// Most of anything that is counted in a profile, and most bytes of a text.
const MOST: usize = 1 << 20;

/// A process for processes of other jobs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Profile {
    pub name: ProcName,
    /// Its mpirun, and the number of its node there; 0: it has no mpirun.
    pub tree: u64,
    pub site: u32,
    /// Number of its node in its job, and its place there.
    pub node: u32,
    pub local_rank: u32,
    /// Socket of its node's daemon.
    pub keeper: String,
    /// Keys and values.
    pub published: Vec<(String, Vec<u8>)>,
}

impl Profile {
    /// Its job's random number.
    pub fn job(&self) -> u64 {
        job_of(&self.name)
    }

    /// Appends the profile to bytes.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&VERSION.to_le_bytes());
        out.extend_from_slice(&self.name.bytes);
        out.extend_from_slice(&self.tree.to_le_bytes());
        for word in [self.site, self.node, self.local_rank, self.published.len() as u32] {
            out.extend_from_slice(&word.to_le_bytes());
        }
        let mut put = |bytes: &[u8]| {
            out.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
            out.extend_from_slice(bytes);
        };
        put(self.keeper.as_bytes());
        for (key, value) in &self.published {
            put(key.as_bytes());
            put(value);
        }
    }

    /// Takes a profile from the front of bytes. `Err`: why that cannot be read.
    pub fn decode(bytes: &mut &[u8]) -> Result<Profile, String> {
        let mut r = Reader(bytes);
        let version = r.u32()?;
        if version != VERSION {
            return Err(format!(
                "a process of the other job describes itself in version {version}, this one in version {VERSION}; the jobs \
                 use different versions of the library"
            ));
        }
        let name = ProcName { bytes: r.array()? };
        let tree = u64::from_le_bytes(r.array()?);
        let (site, node, local_rank, count) = (r.u32()?, r.u32()?, r.u32()?, r.u32()?);
        let keeper = r.text()?;
        if count as usize > MOST {
            return Err(DAMAGED.into());
        }
        let published =
            (0..count).map(|_| Ok((r.text()?, r.bytes()?.to_vec()))).collect::<Result<_, String>>()?;
        *bytes = r.0;
        Ok(Profile { name, tree, site, node, local_rank, keeper, published })
    }
}

const DAMAGED: &str = "what a process of the other job says of itself makes no sense";

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn array<const N: usize>(&mut self) -> Result<[u8; N], String> {
        let (head, rest) = self.0.split_first_chunk::<N>().ok_or(DAMAGED)?;
        self.0 = rest;
        Ok(*head)
    }

    fn u32(&mut self) -> Result<u32, String> {
        self.array().map(u32::from_le_bytes)
    }

    fn bytes(&mut self) -> Result<&'a [u8], String> {
        let len = self.u32()? as usize;
        let (head, rest) = self.0.split_at_checked(len).filter(|_| len <= MOST).ok_or(DAMAGED)?;
        self.0 = rest;
        Ok(head)
    }

    fn text(&mut self) -> Result<String, String> {
        Ok(std::str::from_utf8(self.bytes()?).map_err(|_| DAMAGED)?.to_owned())
    }
}

/// The random number of the job in a wire name.
pub(crate) fn job_of(name: &ProcName) -> u64 {
    let [a, b, c, d, e, f, g, h, ..] = name.bytes;
    u64::from_le_bytes([a, b, c, d, e, f, g, h])
}

/// The rank in a wire name.
pub(crate) fn rank_of(name: &ProcName) -> u32 {
    let [.., a, b, c, d, _, _, _, _] = name.bytes;
    u32::from_le_bytes([a, b, c, d])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::services::names::wire_name;

    fn profile() -> Profile {
        Profile {
            name: wire_name(0x1234_5678_9abc, 77),
            tree: 5,
            site: 3,
            node: 1,
            local_rank: 2,
            keeper: "oxmpi-x".into(),
            published: vec![("a".into(), vec![1, 2, 3]), ("btl.tcp".into(), vec![])],
        }
    }

    #[test]
    fn profiles_survive_the_way_and_damage_is_seen() {
        let mut bytes = Vec::new();
        profile().encode(&mut bytes);
        profile().encode(&mut bytes);
        let mut rest = &bytes[..];
        assert_eq!(Profile::decode(&mut rest), Ok(profile()));
        assert_eq!(Profile::decode(&mut rest), Ok(profile()));
        assert!(rest.is_empty());
        assert_eq!((profile().job(), rank_of(&profile().name)), (0x1234_5678_9abc, 77));
        let half = bytes.len() / 2;
        for len in 0..half {
            assert!(Profile::decode(&mut &bytes[..len]).is_err(), "{len} bytes");
        }
        bytes[0] += 1;
        assert!(Profile::decode(&mut &bytes[..]).is_err_and(|why| why.contains("version 2")));
    }
}
