//! Abilities of the processor. To ask costs microseconds (in a virtual machine the question goes to its host), so a component
//! asks when it is opened.

/// True where its string instruction (`rep movsb`) writes whole lines without first getting them from the core that has them. AMD's
/// do that says they are good at strings (ERMS, from Zen 3 on).
#[cfg(all(target_arch = "x86_64", not(miri)))]
pub fn string_takes_lines_whole() -> bool {
    use core::arch::x86_64::{__cpuid, __cpuid_count};
    const ERMS: u32 = 1 << 9;
    is_amd() && __cpuid(0).eax >= 7 && __cpuid_count(7, 0).ebx & ERMS != 0
}
/// False: the instruction is x86-64's.
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
pub fn string_takes_lines_whole() -> bool {
    false
}

/// True where it is one of AMD's.
#[cfg(all(target_arch = "x86_64", not(miri)))]
pub fn is_amd() -> bool {
    let leaf = core::arch::x86_64::__cpuid(0);
    let name = [leaf.ebx, leaf.edx, leaf.ecx].map(u32::to_le_bytes);
    name.as_flattened() == b"AuthenticAMD"
}
/// False: the question is for x86-64.
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
pub fn is_amd() -> bool {
    false
}

#[cfg(all(test, target_os = "linux", target_arch = "x86_64", not(miri)))]
mod tests {
    use super::*;

    /// As the kernel has it.
    #[test]
    fn is_what_the_kernel_says() {
        let Ok(text) = std::fs::read_to_string("/proc/cpuinfo") else { return };
        let line = |name: &str| text.lines().find(|l| l.starts_with(name)).unwrap_or_default();
        let amd = line("vendor_id").ends_with("AuthenticAMD");
        assert_eq!(is_amd(), amd);
        let erms = line("flags").split_whitespace().any(|flag| flag == "erms");
        assert_eq!(string_takes_lines_whole(), amd && erms);
    }
}
