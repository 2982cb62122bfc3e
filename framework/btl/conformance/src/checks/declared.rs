//! Declarations that a component makes about itself.

use crate::harness::Harness;
use crate::setup::Setup;
use oxmpi_btl::{BtlAttrs, VERSION, cap};
use oxmpi_mca::abi::TARGET;
use oxmpi_mca::{ABI_MAJOR, ABI_MINOR, MAGIC, ParamKind};
use oxmpi_testing::setup::{text, value};
use std::collections::HashSet;

crate::check!(Declared: attributes_are_sane, descriptor_is_complete, parameters_are_complete);

fn is_name(s: &str) -> bool {
    !s.is_empty()
        && s.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
        && s.as_bytes()[0].is_ascii_lowercase()
}

/// Minor versions: ours may be 0 today, and clippy would have us write `==` then.
fn not_newer(theirs: u16, ours: u16) -> bool {
    theirs <= ours
}

/// Magic, versions, target, names and help text are what a host accepts.
fn descriptor_is_complete(setup: &Setup) {
    // SAFETY: a component's descriptor.
    let d = unsafe { &*setup.descriptor };
    assert_eq!(d.magic, MAGIC, "magic");
    assert_eq!(d.abi_major, ABI_MAJOR, "major version of the component ABI");
    assert!(
        not_newer(d.abi_minor, ABI_MINOR),
        "minor version of the component ABI is newer than this suite's"
    );
    assert_eq!(text(d.target), TARGET, "target");
    assert_eq!(text(d.framework), oxmpi_btl::FRAMEWORK, "framework");
    assert_eq!(d.framework_version.major, VERSION.major, "major version of the BTL contract");
    assert!(
        not_newer(d.framework_version.minor, VERSION.minor),
        "minor version of the BTL contract is newer"
    );
    assert!(is_name(text(d.name)), "\"{}\" is no component name", text(d.name));
    // SAFETY: statics of the component.
    for alias in unsafe { d.aliases.get() } {
        assert!(is_name(text(*alias)), "\"{}\" is no alias", text(*alias));
        assert_ne!(text(*alias), text(d.name), "a component is no alias of itself");
    }
    assert_ne!(text(d.help), "\u{fffd}", "help.txt is not UTF-8");
}

/// Every parameter has a name of the house's form, a help text, a level, and a default that parses
/// and lies within its own bounds.
fn parameters_are_complete(setup: &Setup) {
    // SAFETY: statics of the component.
    let params = unsafe { (*setup.descriptor).params.get() };
    let mut seen = HashSet::new();
    for p in params {
        let name = text(p.name);
        assert!(is_name(name), "\"{name}\" is no parameter name");
        assert!(seen.insert(name), "{name} is declared twice");
        assert!((1..=9).contains(&p.level.0), "{name}: level {}", p.level.0);
        assert!((1..=7).contains(&p.scope.0), "{name}: scope {}", p.scope.0);
        assert!(text(p.help).len() > 10, "{name} has no help");
        let default = text(p.default);
        let value =
            value(p, default).unwrap_or_else(|| panic!("{name}: default \"{default}\" does not parse"));
        let bounded = (p.min, p.max) != (0, 0);
        let number = matches!(p.kind, ParamKind::INT | ParamKind::UNSIGNED | ParamKind::SIZE);
        if bounded && number {
            assert!(
                (p.min..=p.max).contains(&value.int),
                "{name}: default {default} is outside {}..={}",
                p.min,
                p.max
            );
        }
    }
}

/// Limits fit each other, and what is announced is offered.
fn attributes_are_sane(setup: &Setup) {
    let h = Harness::new(setup);
    for rank in &h.ranks {
        let a = rank.btl.attrs();
        assert!(a.size as usize >= size_of::<BtlAttrs>(), "attrs.size is {}", a.size);
        assert!(
            (1..=setup.cris).contains(&a.contexts),
            "{} contexts for {} communication resources",
            a.contexts,
            setup.cris
        );
        assert!(
            a.max_send_size >= 128,
            "max_send_size is {}: a header takes up to 128 bytes",
            a.max_send_size
        );
        assert!(a.eager_limit <= a.max_send_size, "eager_limit is more than max_send_size");
        assert!(a.rndv_eager_limit <= a.max_send_size, "rndv_eager_limit is more than max_send_size");
        assert!(a.rndv_eager_limit >= 128, "rndv_eager_limit leaves no room for a header");
        let most = oxmpi_btl::HANDLE_LIMIT as u32;
        assert!(a.registration_handle_size <= most, "a registration handle has at most {most} bytes");
        for (name, align) in [("get_alignment", a.get_alignment), ("put_alignment", a.put_alignment)] {
            assert!(align == 0 || align.is_power_of_two(), "{name} is {align}");
        }
        let device = &a.device[..a.device.iter().position(|&b| b == 0).expect("device is terminated by 0")];
        assert!(!device.is_empty() && std::str::from_utf8(device).is_ok(), "device has no name");
        assert_eq!(a.amo_ops != 0, rank.can(cap::ATOMIC), "amo_ops and the atomic verb contradict");
        assert_eq!(a.amo_operands != 0, rank.can(cap::ATOMIC), "amo_operands and the atomic verb contradict");
        if a.flags & BtlAttrs::PUT_DONE_IS_REMOTE == 0 {
            assert!(!rank.can(cap::PUT) || rank.can(cap::FLUSH), "nothing says when a put is complete");
        }
        assert!(!rank.can(cap::ATOMIC) || rank.can(cap::FLUSH), "nothing says when an atomic is complete");
        if a.min_put_size != u64::MAX {
            assert!(rank.can(cap::PUT), "min_put_size is set, but put is not offered");
        }
        assert_eq!(a.service_limit != 0, rank.can(cap::SERVICE), "service_limit and the service verbs");
        assert!(!rank.can(cap::SERVICE_SLEEP) || rank.can(cap::SERVICE), "sleep without service links");
        if a.min_get_size != u64::MAX {
            assert!(rank.can(cap::GET), "min_get_size is set, but get is not offered");
        }
        assert_eq!(a.registration_handle_size != 0, rank.can(cap::REGISTER), "handle size and registration");
    }
}
