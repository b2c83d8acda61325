//! A server for one room: it shows a page to telephones on the local network and collects the bundles that they send.
//!
//! Browsers give WebGPU only to pages that come over https. So the server makes a certificate when it starts, for which
//! no authority vouches: browsers warn before they open the page. Nothing but the page, the collected bundles and what
//! follows from them can be read.

use super::report::{bundles_in, read_submission, submission};
use super::{Exit, create_folder, say};
use anyhow::anyhow;
use qrcode::QrCode;
use qrcode::render::unicode::Dense1x2;
use rcgen::{CertificateParams, ExtendedKeyUsagePurpose, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use skinbench::report::html;
use skinbench::report::site::{self, Submission};
use skinbench::results::bundle::{Bundle, ENDING};
use skinbench::results::check::Division;
use skinbench::results::{digest, whole};
use skinbench::threads::lock;
use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

/// Most bundles that a folder collects, and most bytes of each.
const MOST_BUNDLES: usize = 60;
const MOST_BYTES: usize = 1 << 20;
/// Most bytes of a larger one that are read, so that its sender learns why it is refused.
const MOST_SKIPPED: usize = 16 << 20;
/// Most bytes and lines of a request before its content.
const MOST_HEAD: usize = 16 << 10;
const MOST_LINES: usize = 64;
/// Most requests at a time, and how long each may take.
const MOST_REQUESTS: usize = 64;
const PATIENCE: Duration = Duration::from_secs(30);
/// Validity of the certificate.
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

type Connection = StreamOwned<ServerConnection, TcpStream>;

/// The page of a server, and the bundles that it has collected.
struct Room {
    page: String,
    /// The folder of bundles, if they are collected.
    folder: Option<PathBuf>,
    collected: Mutex<Vec<Submission>>,
}

/// An answer to a request.
struct Answer {
    status: &'static str,
    kind: &'static str,
    /// More lines of its head.
    lines: &'static str,
    body: Vec<u8>,
}

impl Answer {
    fn html(text: String) -> Self {
        Self {
            status: "200 OK",
            kind: "text/html; charset=utf-8",
            lines: "",
            body: text.into_bytes(),
        }
    }

    fn text(status: &'static str, text: impl Into<String>) -> Self {
        Self {
            status,
            kind: "text/plain; charset=utf-8",
            lines: "",
            body: text.into().into_bytes(),
        }
    }
}

/// Serves a page until the process ends, and collects bundles in a folder if there is one.
pub fn serve(address: SocketAddr, page: String, folder: Option<&Path>) -> anyhow::Result<Exit> {
    let mut collected = Vec::new();
    if let Some(folder) = folder {
        create_folder(folder)?;
        for path in bundles_in(folder)? {
            collected.push(read_submission(&path)?);
        }
    }
    let listener = TcpListener::bind(address).map_err(|error| cannot_serve(address, &error))?;
    let host = if address.ip().is_unspecified() {
        local_address().unwrap_or(Ipv4Addr::LOCALHOST.into())
    } else {
        address.ip()
    };
    let link = format!(
        "https://{}/",
        SocketAddr::new(host, listener.local_addr()?.port())
    );
    let config = Arc::new(certified(host)?);
    let code = QrCode::new(&link)?
        .render::<Dense1x2>()
        .dark_color(Dense1x2::Light)
        .light_color(Dense1x2::Dark)
        .build();
    let results = if folder.is_some() {
        format!("results: {link}results\n")
    } else {
        String::new()
    };
    say(format_args!(
        "{code}\npage: {link}\n{results}Ctrl-C ends the server.\n"
    ))?;
    let room = Arc::new(Room {
        page,
        folder: folder.map(Path::to_owned),
        collected: Mutex::new(collected),
    });
    for stream in listener.incoming() {
        // A telephone that goes away ends its own request only.
        let Ok(stream) = stream else { continue };
        if Arc::strong_count(&room) > MOST_REQUESTS {
            continue;
        }
        let room = Arc::clone(&room);
        let config = Arc::clone(&config);
        std::thread::spawn(move || room.answer(stream, config));
    }
    Ok(Exit::Done)
}

/// The error for an address that cannot be listened to.
fn cannot_serve(address: SocketAddr, error: &io::Error) -> anyhow::Error {
    if error.kind() != io::ErrorKind::AddrInUse {
        return anyhow!("cannot serve at {address}: {error}");
    }
    let port = address.port();
    let next = SocketAddr::new(address.ip(), port.checked_add(1).unwrap_or(4433));
    anyhow!("cannot serve at {address}: another program has port {port}; try --serve={next}")
}

/// The address by which others on the network reach this machine. Nothing is sent to find it.
fn local_address() -> io::Result<IpAddr> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
    // An address for documentation, which leads out of the network.
    socket.connect((Ipv4Addr::new(192, 0, 2, 1), 9))?;
    Ok(socket.local_addr()?.ip())
}

/// A certificate for an address, and how to speak with it.
fn certified(host: IpAddr) -> anyhow::Result<ServerConfig> {
    let mut parameters = CertificateParams::new([host.to_string(), "localhost".into()])?;
    parameters.not_before = (SystemTime::now() - DAY).into();
    parameters.not_after = (SystemTime::now() + 30 * DAY).into();
    parameters
        .extended_key_usages
        .push(ExtendedKeyUsagePurpose::ServerAuth);
    let key = KeyPair::generate()?;
    let certificate = parameters.self_signed(&key)?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    Ok(ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(
            vec![certificate.der().clone()],
            PrivateKeyDer::Pkcs8(key.serialize_der().into()),
        )?)
}

impl Room {
    /// Answers the request of a connection, if it is one.
    fn answer(&self, stream: TcpStream, config: Arc<ServerConfig>) -> anyhow::Result<()> {
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let mut connection = StreamOwned::new(ServerConnection::new(config)?, stream);
        let answer = self
            .read(&mut connection)
            .unwrap_or_else(|error| Answer::text("400 Bad Request", error.to_string()));
        let Answer {
            status,
            kind,
            lines,
            body,
        } = answer;
        write!(
            connection,
            "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n{lines}Cache-Control: no-store\r\n\
             X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n",
            body.len()
        )?;
        connection.write_all(&body)?;
        connection.conn.send_close_notify();
        Ok(connection.flush()?)
    }

    /// Reads a request and finds its answer.
    fn read(&self, connection: &mut Connection) -> anyhow::Result<Answer> {
        let mut incoming = Incoming {
            connection,
            since: Instant::now(),
            bytes: Vec::new(),
        };
        loop {
            let mut lines = [httparse::EMPTY_HEADER; MOST_LINES];
            let mut request = httparse::Request::new(&mut lines);
            let httparse::Status::Complete(head) = request.parse(&incoming.bytes)? else {
                anyhow::ensure!(
                    incoming.bytes.len() < MOST_HEAD,
                    "a request of more than {MOST_HEAD} bytes"
                );
                incoming.read_more()?;
                continue;
            };
            let path = request.path.unwrap_or_default();
            if request.method == Some("GET") {
                return Ok(self.get(path));
            }
            // A page of another site cannot send this kind without asking first, and is never answered.
            let sends_bundle = request.method == Some("POST")
                && path == "/bundle"
                && line(&request, "Content-Type") == Some("application/gzip");
            if !sends_bundle {
                return Ok(Answer::text(
                    "405 Method Not Allowed",
                    "this server shows a page and collects bundles",
                ));
            }
            let length = line(&request, "Content-Length").and_then(|length| length.parse().ok());
            let Some(length) = length else {
                return Ok(Answer::text("411 Length Required", "no length"));
            };
            return Ok(match incoming.content(head, length)? {
                Some(bundle) => self.collect(bundle),
                None => Answer::text(
                    "413 Content Too Large",
                    format!("{length} bytes; at most {MOST_BYTES} are accepted"),
                ),
            });
        }
    }

    fn get(&self, path: &str) -> Answer {
        if path.split('?').next() == Some("/") {
            return Answer::html(self.page.clone());
        }
        // The page above is there while a bundle is checked, the results wait for it.
        let collected = lock(&self.collected);
        if path == "/results" && !collected.is_empty() {
            return Answer {
                lines: "Refresh: 10\r\n",
                ..Answer::html(site::index(&collected))
            };
        }
        for Submission { name, checked, .. } in collected.iter() {
            if path == format!("/{name}.html") {
                return Answer::html(html::page(&checked.studies));
            }
            let file = format!("{name}{ENDING}");
            if path == format!("/{file}")
                && let Some(folder) = &self.folder
                && let Ok(body) = std::fs::read(folder.join(file))
            {
                return Answer {
                    status: "200 OK",
                    kind: "application/gzip",
                    lines: "",
                    body,
                };
            }
        }
        Answer::text("404 Not Found", "nothing here (yet)")
    }

    /// Checks a bundle and stores it.
    fn collect(&self, bytes: &[u8]) -> Answer {
        // One at a time: a check builds scenes again.
        let mut collected = lock(&self.collected);
        let Some(folder) = &self.folder else {
            return Answer::text("404 Not Found", "nothing is collected");
        };
        if collected.len() >= MOST_BUNDLES {
            return Answer::text(
                "507 Insufficient Storage",
                format!("{MOST_BUNDLES} bundles are there already"),
            );
        }
        let digest = digest::of_bytes(bytes);
        let file = format!("browser-{}{ENDING}", &digest[..16]);
        let path = folder.join(&file);
        let bundle = Bundle::of_bytes(bytes).map_err(anyhow::Error::new);
        let problem = match bundle.and_then(|bundle| submission(Path::new(&file), bundle)) {
            Ok(new) if new.checked.division == Division::Browser => {
                return store(new, &path, bytes, &mut collected);
            }
            Ok(_) => "not measured by a page".into(),
            Err(error) => format!("{error:#}"),
        };
        Answer::text("422 Unprocessable Content", problem)
    }
}

/// Stores a bundle that was checked, and says so.
fn store(new: Submission, path: &Path, bytes: &[u8], collected: &mut Vec<Submission>) -> Answer {
    let new_runs = runs(&new);
    if collected
        .iter()
        .flat_map(runs)
        .any(|run| new_runs.contains(&run))
    {
        return Answer::text("409 Conflict", "these results are there already");
    }
    let line = format!("{}: {}\n", path.display(), new.checked.studies[0].machine);
    collected.push(new);
    if let Some(excess) = site::excess(collected) {
        collected.pop();
        return Answer::text("507 Insufficient Storage", excess);
    }
    if let Err(error) = whole::write_new(path, |file| file.write_all(bytes)) {
        collected.pop();
        return Answer::text(
            "500 Internal Server Error",
            format!("cannot store it: {error}"),
        );
    }
    match say(line) {
        Ok(()) => Answer::text("201 Created", "Checked and stored."),
        Err(error) => Answer::text("500 Internal Server Error", error.to_string()),
    }
}

/// The runs of a submission, by their names.
fn runs(submission: &Submission) -> Vec<String> {
    let sessions = submission.checked.sessions.iter();
    sessions.flat_map(|session| session.runs.clone()).collect()
}

/// The value of a line of a request's head.
fn line<'a>(request: &httparse::Request<'_, 'a>, name: &str) -> Option<&'a str> {
    let mut lines = request.headers.iter();
    let line = lines.find(|line| line.name.eq_ignore_ascii_case(name))?;
    str::from_utf8(line.value).ok()
}

/// A request while it arrives.
struct Incoming<'a> {
    connection: &'a mut Connection,
    since: Instant,
    bytes: Vec<u8>,
}

impl Incoming<'_> {
    fn read_more(&mut self) -> io::Result<()> {
        let mut block = [0; 16 << 10];
        let count = self.connection.read(&mut block)?;
        if count == 0 || self.since.elapsed() > PATIENCE {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.bytes.extend(&block[..count]);
        Ok(())
    }

    /// The content behind a head of so many bytes; `None` if it is too large.
    fn content(&mut self, head: usize, length: usize) -> io::Result<Option<&[u8]>> {
        if length > MOST_BYTES {
            // A browser reads no answer while it sends.
            let mut skipped = self.bytes.len() - head;
            while skipped < length.min(MOST_SKIPPED) {
                self.bytes.clear();
                self.read_more()?;
                skipped += self.bytes.len();
            }
            return Ok(None);
        }
        while self.bytes.len() < head + length {
            self.read_more()?;
        }
        Ok(Some(&self.bytes[head..head + length]))
    }
}
