// Guildhall's tools inside pi: each one asks the program that started pi, and does nothing itself.
// Without its variable it throws, so that pi ends before it could run with other tools.
import { connect } from "node:net";

const socket = process.env.GUILDHALL_TOOLS;
if (!socket) throw new Error("GUILDHALL_TOOLS is not set");

function dial() {
  const waiting = new Map();
  let listed;
  let last = 0;
  let rest = "";
  const stream = connect(socket);
  stream.setEncoding("utf8");
  const list = new Promise((resolve, reject) => {
    listed = resolve;
    setTimeout(() => reject(new Error("no tools were told")), 10000).unref();
    stream.on("error", () => reject(new Error("the tool socket failed")));
    stream.on("close", () => reject(new Error("the tool socket is closed")));
  });
  // Somebody waits for it below; a failure after that has nobody to tell.
  list.catch(() => {});
  stream.on("close", () => {
    for (const answer of waiting.values()) answer({ outcome: "unknown", text: "revoked: the tools are gone" });
    waiting.clear();
  });
  stream.on("data", (data) => {
    const lines = (rest + data).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      const told = JSON.parse(line);
      if (told.tools) listed(told.tools);
      else {
        waiting.get(told.result)?.(told);
        waiting.delete(told.result);
      }
    }
  });
  const say = (what) => stream.write(`${JSON.stringify(what)}\n`);
  say({ tools: true });
  const call = (name, args, signal) =>
    new Promise((answer) => {
      if (stream.destroyed) return answer({ outcome: "refused", text: "revoked: the tools are gone" });
      const number = ++last;
      waiting.set(number, answer);
      signal?.addEventListener("abort", () => say({ cancel: number }), { once: true });
      say({ call: number, name, arguments: args });
    });
  return { list, call };
}

export default async function (pi) {
  const { list, call } = dial();
  for (const tool of await list) {
    pi.registerTool({
      name: tool.name,
      label: tool.name,
      description: tool.description,
      parameters: tool.parameters,
      async execute(_id, args, signal) {
        const { outcome, text } = await call(tool.name, args, signal);
        // Throwing is the one way to mark an error that every version heeds.
        if (outcome !== "done") throw new Error(text);
        return { content: [{ type: "text", text }], details: {} };
      },
    });
  }
  pi.on("session_start", (_event, ctx) => {
    const sources = new Map(pi.getAllTools().map((tool) => [tool.name, tool.sourceInfo?.path]));
    const active = pi.getActiveTools().map((name) => [name, sources.get(name) ?? ""]);
    ctx.ui.setStatus("guildhall-tools", JSON.stringify(active));
  });
}
