//! Names to addresses.
//!
//! In: a host name. Out: every address that it has. Never: a judgement on them, nor a second look-up
//! for one connection, nor a thread that others need.

use std::{
    future::Future,
    io,
    net::{IpAddr, ToSocketAddrs as _},
    pin::Pin,
    sync::Arc,
    thread,
};

use tokio::sync::{Semaphore, oneshot};

/// A future that can be kept in a box.
pub type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Most look-ups of one resolver at once, those that nobody waits for any more included.
const LOOKUPS_MAX: usize = 4;

/// How a name is completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameKind {
    /// The name is whole: search domains and local aliases do not apply.
    Absolute,
    /// The name is the operator's own, and the system reads it as it would any other.
    AsConfigured,
}

/// Looks names up.
pub trait Resolve: Send + Sync {
    /// All addresses of `host`, which is in lower case and punycode and has no dot at its end. An
    /// empty list means that there are none.
    ///
    /// # Errors
    /// When there was no answer; whoever asked takes it for a name without addresses.
    fn resolve<'a>(&'a self, host: &'a str, kind: NameKind) -> Boxed<'a, io::Result<Vec<IpAddr>>>;
}

/// The system's own resolver, on a few threads of its own.
///
/// A look-up that nobody waits for any more goes on in its thread until the system gives it up, which
/// may be long after the call's own time. So the threads are not the runtime's, on which files and
/// records wait, and while all of them hang a further look-up waits for one, until its call's time
/// is over.
#[derive(Clone, Debug)]
pub struct SystemResolver(LookUps);

impl Default for SystemResolver {
    fn default() -> Self {
        Self(LookUps(Arc::new(Semaphore::new(LOOKUPS_MAX))))
    }
}

impl Resolve for SystemResolver {
    fn resolve<'a>(&'a self, host: &'a str, kind: NameKind) -> Boxed<'a, io::Result<Vec<IpAddr>>> {
        // With a dot at its end a name is absolute: `LOCALDOMAIN`, `RES_OPTIONS` and `HOSTALIASES`
        // of the environment do not change it.
        let name = match kind {
            NameKind::Absolute => format!("{host}."),
            NameKind::AsConfigured => host.to_owned(),
        };
        Box::pin(self.0.run(move || {
            let found = (name.as_str(), 0).to_socket_addrs()?;
            Ok(found.map(|address| address.ip()).collect())
        }))
    }
}

/// Threads for look-ups.
#[derive(Clone, Debug)]
struct LookUps(Arc<Semaphore>);

impl LookUps {
    /// Has a thread look something up, once there may be one.
    ///
    /// # Cancel safety
    /// A dropped future leaves a look-up that runs to its end, and one that waits is never begun.
    async fn run<T: Send + 'static>(
        &self,
        look_up: impl FnOnce() -> io::Result<T> + Send + 'static,
    ) -> io::Result<T> {
        let slot = Arc::clone(&self.0).acquire_owned().await;
        let slot = slot.expect("nobody closes the semaphore");
        let (answer, answered) = oneshot::channel();
        thread::Builder::new()
            .name("look-up".to_owned())
            .spawn(move || {
                // Held until the system is done with it, whoever still waits.
                let _slot = slot;
                drop(answer.send(look_up()));
            })?;
        // Without an answer the look-up met a case that it was not made for.
        answered
            .await
            .unwrap_or_else(|_| Err(io::ErrorKind::Other.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        sync::{Mutex, mpsc},
        time::Duration,
    };
    use tokio::time::timeout;

    const PATIENCE: Duration = Duration::from_secs(20);

    #[tokio::test]
    async fn the_system_knows_its_own_name_and_not_one_that_cannot_be() {
        let resolver = SystemResolver::default();
        let own = resolver.resolve("localhost", NameKind::AsConfigured);
        let own = own.await.expect("an answer");
        assert!(own.iter().all(IpAddr::is_loopback) && !own.is_empty());
        let none = resolver.resolve("a..b", NameKind::Absolute).await;
        assert!(none.is_err());
    }

    #[test]
    fn look_ups_that_hang_take_no_thread_that_others_need_and_stay_within_their_number() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .max_blocking_threads(1)
            .build()
            .expect("a runtime");
        let SystemResolver(look_ups) = SystemResolver::default();
        let (begun, begins) = mpsc::channel();
        let (release, released) = mpsc::channel::<()>();
        let released = Arc::new(Mutex::new(released));
        let hang = move || {
            begun.send(()).expect("the test listens");
            // Until the sender goes.
            let gone = released.lock().expect("no panic under it").recv();
            gone.map_err(io::Error::other)
        };
        runtime.block_on(async {
            let soon = Duration::from_millis(20);
            // More than there may be, each given up by whoever asked.
            for _ in 0..LOOKUPS_MAX + 3 {
                assert!(timeout(soon, look_ups.run(hang.clone())).await.is_err());
            }
            let elsewhere = tokio::task::spawn_blocking(|| 7);
            let done = timeout(PATIENCE, elsewhere).await.expect("no thread waits");
            assert_eq!(done.expect("no panic"), 7);
        });
        for _ in 0..LOOKUPS_MAX {
            begins.recv_timeout(PATIENCE).expect("it began");
        }
        assert!(begins.try_recv().is_err(), "one more began");
        // Once the system gives them up there is room again.
        drop(release);
        let next = runtime.block_on(async { timeout(PATIENCE, look_ups.run(|| Ok(8))).await });
        assert_eq!(next.expect("in time").expect("an answer"), 8);
    }
}
