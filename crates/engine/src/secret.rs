//! A provider's key: read with care once, shown to nobody.
//!
//! In: a private file, or a value that `main` took from a named environment variable. Out: one
//! header value. Never: a `Debug` or `Display` of it, a link that is followed, the environment.

use rustix::fs::{CWD, FileType, Mode, OFlags};
use std::{fs::File, io::Read as _, path::Path};

/// Longest key, in bytes. Keys of providers are around 100; signed ones are a few thousand.
pub const SECRET_MAX_BYTES: usize = 8 * 1024;

/// A provider's key. It has no `Debug`, no `Display` and no `Serialize` on purpose.
#[derive(Clone)]
pub struct Secret(String);

/// Why there is no key. No variant holds any part of it.
#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    /// The file could not be opened or read.
    #[error("the key file cannot be read")]
    Io(#[source] std::io::Error),
    /// A link, a folder, a device.
    #[error("the key file is not a regular file")]
    NotRegular,
    /// Others may read or write it, or it belongs to somebody else.
    #[error("the key file has to belong to this user, with mode 0600 or less")]
    NotPrivate,
    /// Empty, too long, or not one line of visible ASCII.
    #[error("a key is one line of 1 to {SECRET_MAX_BYTES} visible ASCII characters")]
    NotAKey,
}

impl Secret {
    /// Takes a key; blanks and line ends around it are left out.
    ///
    /// # Errors
    /// [`SecretError::NotAKey`].
    pub fn new(text: &str) -> Result<Self, SecretError> {
        let text = text.trim();
        let fits = !text.is_empty() && text.len() <= SECRET_MAX_BYTES;
        if fits && text.bytes().all(|b| b.is_ascii_graphic()) {
            Ok(Self(text.to_owned()))
        } else {
            Err(SecretError::NotAKey)
        }
    }

    /// Reads a key file: regular, not a link, of this user, closed to all others.
    ///
    /// # Errors
    /// What is wrong with the file or with what is in it.
    pub fn read(path: &Path) -> Result<Self, SecretError> {
        // NONBLOCK: a FIFO in the file's place must not hold us.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let file = match rustix::fs::openat(CWD, path, flags, Mode::empty()) {
            Ok(file) => file,
            // NOFOLLOW on a link.
            Err(rustix::io::Errno::LOOP) => return Err(SecretError::NotRegular),
            Err(errno) => return Err(SecretError::Io(errno.into())),
        };
        let stat = rustix::fs::fstat(&file).map_err(|errno| SecretError::Io(errno.into()))?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(SecretError::NotRegular);
        }
        let closed = Mode::from_raw_mode(stat.st_mode) & (Mode::RWXG | Mode::RWXO) == Mode::empty();
        if !closed || stat.st_uid != rustix::process::geteuid().as_raw() {
            return Err(SecretError::NotPrivate);
        }
        let mut bytes = Vec::new();
        File::from(file)
            .take(SECRET_MAX_BYTES as u64 + 2)
            .read_to_end(&mut bytes)
            .map_err(SecretError::Io)?;
        Self::new(std::str::from_utf8(&bytes).map_err(|_| SecretError::NotAKey)?)
    }

    /// The key, for the one header that carries it.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    fn refusal(path: &Path) -> Option<String> {
        Secret::read(path).err().map(|error| error.to_string())
    }

    #[test]
    fn a_key_is_one_line_of_visible_ascii() {
        let long = "x".repeat(SECRET_MAX_BYTES + 1);
        for (text, want) in [
            ("abc-1", Some("abc-1")),
            ("  abc\r\n", Some("abc")),
            ("", None),
            (" \n", None),
            ("a b", None),
            ("a\nb", None),
            ("k\u{e9}y", None),
            (long.as_str(), None),
        ] {
            assert_eq!(
                Secret::new(text).ok().as_ref().map(Secret::reveal),
                want,
                "{text:?}"
            );
        }
    }

    #[test]
    fn a_key_file_is_read_only_where_it_is_private_and_regular() {
        let root = tempfile::tempdir().expect("a folder");
        let key = root.path().join("key");
        std::fs::write(&key, "abc\n").expect("room");
        let mode = |mode| {
            std::fs::set_permissions(&key, std::fs::Permissions::from_mode(mode)).expect("ours");
        };
        for open in [0o640, 0o604, 0o620, 0o644] {
            mode(open);
            assert_eq!(
                refusal(&key),
                Some(SecretError::NotPrivate.to_string()),
                "{open:o}"
            );
        }
        for private in [0o600, 0o400] {
            mode(private);
            assert_eq!(
                Secret::read(&key).ok().as_ref().map(Secret::reveal),
                Some("abc")
            );
        }
        let link = root.path().join("link");
        symlink(&key, &link).expect("room");
        assert_eq!(refusal(&link), Some(SecretError::NotRegular.to_string()));
        assert_eq!(
            refusal(root.path()),
            Some(SecretError::NotRegular.to_string())
        );
        let fifo = root.path().join("fifo");
        rustix::fs::mkfifoat(CWD, &fifo, Mode::RUSR | Mode::WUSR).expect("room");
        assert_eq!(refusal(&fifo), Some(SecretError::NotRegular.to_string()));
        assert!(refusal(&root.path().join("none")).is_some());
    }
}
