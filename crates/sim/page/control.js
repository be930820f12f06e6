// The control API, as far as the page uses it.

import { toast } from './dom.js';

/** One request. A refusal is shown to the person, unless `quiet`, and given back as null. */
export async function control(method, path, body, quiet = false) {
  try {
    const answer = await fetch(`/control/${path}`, {
      method,
      headers: body === undefined ? {} : { 'content-type': 'application/json' },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const json = await answer.json();
    if (!answer.ok) {
      if (!quiet) toast(json.error ?? `The server answered ${answer.status}`, 'bad');
      return null;
    }
    return json;
  } catch {
    toast('The simulator cannot be reached.', 'bad');
    return null;
  }
}
