// Sends the bundle to the computer that serves this page.

/** Sends bytes; the answer is a sentence. */
async function send(bytes) {
  const answer = await fetch('./bundle', { method: 'POST', headers: { 'Content-Type': 'application/gzip' }, body: bytes });
  const text = await answer.text();
  if (!answer.ok) throw new Error(text);
  return text;
}
