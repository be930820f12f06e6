// The control API, as far as the page uses it.

import { toast } from './dom.js';

/** One request. A refusal is shown to the person and given back as null. */
export async function control(method, path, body) {
  try {
    const answer = await fetch(`/control/${path}`, {
      method,
      headers: body === undefined ? {} : { 'content-type': 'application/json' },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const json = await answer.json();
    if (!answer.ok) {
      toast(json.error ?? `The server answered ${answer.status}`, 'bad');
      return null;
    }
    return json;
  } catch {
    toast('The simulator cannot be reached.', 'bad');
    return null;
  }
}
