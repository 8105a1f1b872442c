// SPDX-License-Identifier: Apache-2.0
// The live page: HTML, style and script in one text, which loads nothing else. Names and lines come from the training
// and are not trusted: the script sets them by textContent, never as HTML.
#pragma once

#include <string_view>

namespace crochet::web {

inline constexpr std::string_view page_text = R"page(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>crochet</title>
<style>
:root { color-scheme: light dark; --back: #fff; --text: #1c2330; --soft: #687182; --line: #d9dee6; --mark: #1769c2; --stop: #b3261e; }
@media (prefers-color-scheme: dark) {
  :root { --back: #14181f; --text: #e6eaf0; --soft: #98a2b3; --line: #303846; --mark: #6db3ff; --stop: #ff8a80; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 12px; max-width: 1200px; background: var(--back); color: var(--text); font: 15px/1.45 system-ui, sans-serif; }
header { display: flex; flex-wrap: wrap; gap: 8px 16px; align-items: center; }
h1 { font-size: 18px; margin: 0; flex: 1 1 auto; }
h2 { font-size: 15px; margin: 20px 0 6px; }
button { font: inherit; padding: 8px 18px; border: 1px solid var(--stop); border-radius: 6px; color: var(--stop); background: none; cursor: pointer; }
button:disabled { opacity: .5; cursor: default; }
#notice { margin: 8px 0; padding: 8px 12px; border: 1px solid var(--stop); border-radius: 6px; }
#bar { height: 8px; margin: 10px 0 4px; border-radius: 4px; background: var(--line); overflow: hidden; }
#fill { height: 100%; width: 0; background: var(--mark); }
.soft { color: var(--soft); font-size: 13px; }
.grid { display: grid; gap: 12px; grid-template-columns: repeat(auto-fill, minmax(min(100%, 340px), 1fr)); }
figure { margin: 0; padding: 8px; border: 1px solid var(--line); border-radius: 6px; min-width: 0; }
figcaption { display: flex; gap: 8px; justify-content: space-between; overflow-wrap: anywhere; font-weight: 600; }
canvas { display: block; width: 100%; height: 170px; }
pre, .scroll { overflow-x: auto; margin: 0; }
pre { font-size: 13px; max-height: 260px; overflow-y: auto; border: 1px solid var(--line); border-radius: 6px; padding: 8px; }
table { border-collapse: collapse; font-size: 13px; width: 100%; }
th, td { text-align: right; padding: 3px 8px; border-bottom: 1px solid var(--line); }
th:first-child, td:first-child { text-align: left; overflow-wrap: anywhere; }
input { vertical-align: middle; }
</style></head>
<body>
<header><h1>Training: <span id="state">connecting</span></h1>
<button id="stop" type="button">Stop</button></header>
<div id="notice" role="status" hidden></div>
<div id="bar"><div id="fill"></div></div>
<div class="soft" id="progress"></div>
<h2>Curves</h2>
<label class="soft">Smoothing <input id="smooth" type="range" min="0" max="0.99" step="0.01" value="0.6"> <output id="smoothed">0.60</output></label>
<div class="grid" id="curves"></div>
<section id="distributions" hidden><h2>Histograms</h2><div class="grid" id="histograms"></div></section>
<section id="costs" hidden><h2>Hooks <span class="soft">mean time in the runs that the page shows</span></h2>
<div class="scroll"><table><thead><tr><th>hook</th><th>calls</th><th>before_run, &micro;s</th><th>after_run, &micro;s</th></tr></thead><tbody id="hooks"></tbody></table></div></section>
<section id="described" hidden><h2>Chain</h2><pre id="chain"></pre></section>
<section id="logged" hidden><h2>Log</h2><pre id="log"></pre></section>
)page"
                                              R"page(<script>
'use strict';
const $ = id => document.getElementById(id);
const token = new URLSearchParams(location.search).get('token') || '';
const curves = new Map(), bars = new Map(), lines = [];
let version = 0, failures = 0, over = false;

function figure(parent, name) {
  const box = document.createElement('figure'), head = document.createElement('figcaption');
  const title = document.createElement('span'), value = document.createElement('span'), canvas = document.createElement('canvas');
  title.textContent = name;
  value.className = 'soft';
  head.append(title, value);
  box.append(head, canvas);
  box.dataset.name = name;
  $(parent).append(box);
  return { value, canvas, points: [] };
}
function short(x) {
  if (x === null || x === undefined) return 'nan';
  if (Number.isInteger(x) && Math.abs(x) < 1e9) return String(x);
  return Math.abs(x) >= 1e-3 && Math.abs(x) < 1e6 ? String(Number(x.toPrecision(3))) : x.toExponential(2);
}
function time(s) {
  s = Math.round(s);
  const two = n => String(n).padStart(2, '0');
  return s < 3600 ? Math.floor(s / 60) + ':' + two(s % 60) : Math.floor(s / 3600) + ':' + two(Math.floor(s / 60) % 60) + ':' + two(s % 60);
}
const color = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
function surface(canvas) {
  const scale = window.devicePixelRatio || 1, w = canvas.clientWidth || 300, h = canvas.clientHeight || 170;
  canvas.width = w * scale;
  canvas.height = h * scale;
  const pen = canvas.getContext('2d');
  pen.scale(scale, scale);
  pen.font = '11px system-ui, sans-serif';
  return { pen, w, h };
}
function smoothed(points, weight) {
  let mean = 0, norm = 0;
  return points.map(p => {
    if (p[2] === null) return null;
    mean = weight * mean + (1 - weight) * p[2];
    norm = weight * norm + (1 - weight);
    return mean / norm;
  });
}
function drawCurve(c) {
  const { pen, w, h } = surface(c.canvas), left = 62, bottom = 18, top = 6, ps = c.points;
  const shown = ps.filter(p => p[2] !== null);
  if (!shown.length) return;
  let low = Math.min(...shown.map(p => p[3])), high = Math.max(...shown.map(p => p[4]));
  if (low === high) { low -= Math.abs(low) * 0.1 || 1; high += Math.abs(high) * 0.1 || 1; }
  const first = ps[0][0], last = Math.max(ps[ps.length - 1][1], first + 1);
  const x = s => left + (s - first) / (last - first) * (w - left - 6), y = v => top + (high - v) / (high - low) * (h - top - bottom);
  pen.strokeStyle = color('--line');
  pen.fillStyle = color('--soft');
  for (const part of [0, 0.5, 1]) {
    const v = low + part * (high - low);
    pen.beginPath(); pen.moveTo(left, y(v)); pen.lineTo(w - 6, y(v)); pen.stroke();
    pen.textAlign = 'right';
    pen.fillText(short(v), left - 5, y(v) + (part === 1 ? 8 : part === 0 ? 0 : 4));
  }
  pen.textAlign = 'left'; pen.fillText(short(first), left, h - 4);
  pen.textAlign = 'right'; pen.fillText(short(ps[ps.length - 1][1]), w - 6, h - 4);
  pen.fillStyle = pen.strokeStyle = color('--mark');
  pen.globalAlpha = 0.25; // least to greatest of each point
  pen.beginPath();
  for (const p of shown) { pen.moveTo(x(p[0]), y(p[3])); pen.lineTo(x(p[0]), y(p[4]) - 0.5); }
  pen.stroke();
  pen.beginPath();
  shown.forEach((p, i) => i ? pen.lineTo(x(p[0]), y(p[2])) : pen.moveTo(x(p[0]), y(p[2])));
  pen.stroke();
  pen.globalAlpha = 1;
  pen.lineWidth = 2;
  const even = smoothed(shown, Number($('smooth').value));
  pen.beginPath();
  shown.forEach((p, i) => i ? pen.lineTo(x(p[0]), y(even[i])) : pen.moveTo(x(p[0]), y(even[i])));
  pen.stroke();
}
function drawBars(c) {
  const { pen, w, h } = surface(c.canvas), b = c.data, most = Math.max(1, ...b.bars), wide = (w - 4) / b.bars.length;
  pen.fillStyle = color('--mark');
  b.bars.forEach((n, i) => { const tall = n / most * (h - 26); pen.fillRect(2 + i * wide, h - 18 - tall, Math.max(1, wide - 1), tall); });
  pen.fillStyle = color('--soft');
  pen.textAlign = 'left'; pen.fillText(short(b.least), 2, h - 4);
  pen.textAlign = 'right'; pen.fillText(short(b.greatest), w - 2, h - 4);
}
function redraw() { curves.forEach(drawCurve); bars.forEach(drawBars); }
function row(cost) {
  const tr = document.createElement('tr'), mean = t => t[0] ? (1e6 * t[1] / t[0]).toFixed(1) : '';
  for (const text of [cost.hook, Math.max(cost.before[0], cost.after[0]), mean(cost.before), mean(cost.after)]) {
    const td = document.createElement('td');
    td.textContent = text;
    tr.append(td);
  }
  return tr;
}
function show(d) {
  version = d.version;
  over = !d.running;
  $('state').textContent = d.stopping && d.running ? 'stopping' : d.state;
  $('stop').disabled = d.stopping || over;
  let text = 'step ' + d.step + (d.total === null ? '' : ' of ' + d.total);
  if (d.rate > 0) text += ', ' + short(d.rate) + ' steps/s, ' + time(d.elapsed) + ' passed';
  if (d.rate > 0 && d.total > d.step && d.running) text += ', ' + time((d.total - d.step) / d.rate) + ' left';
  $('progress').textContent = text;
  $('bar').hidden = d.total === null;
  $('fill').style.width = (d.total > 0 ? 100 * Math.min(1, d.step / d.total) : 0) + '%';
  for (const c of d.curves) {
    if (!curves.has(c.name)) curves.set(c.name, figure('curves', c.name));
    const kept = curves.get(c.name);
    kept.points.length = Math.min(kept.points.length, c.from);
    kept.points.push(...c.points);
    const end = kept.points[kept.points.length - 1];
    kept.value.textContent = end ? short(end[2]) : '';
    drawCurve(kept);
  }
  for (const b of d.histograms) {
    if (!bars.has(b.name)) bars.set(b.name, figure('histograms', b.name));
    const kept = bars.get(b.name);
    kept.data = b;
    kept.value.textContent = 'step ' + b.step + (b.nonFinite ? ', ' + b.nonFinite + ' not finite' : '');
    $('distributions').hidden = false;
    drawBars(kept);
  }
  if (d.hooks) { $('hooks').replaceChildren(...d.hooks.map(row)); $('costs').hidden = d.hooks.length === 0; }
  if (d.chain !== undefined) { $('chain').textContent = d.chain; $('described').hidden = d.chain === ''; }
  if (d.lines.length) {
    lines.push(...d.lines);
    lines.splice(0, Math.max(0, lines.length - 200));
    $('log').textContent = lines.join('\n');
    $('logged').hidden = false;
    $('log').scrollTop = $('log').scrollHeight;
  }
}
function notice(text) { $('notice').textContent = text; $('notice').hidden = text === ''; }
async function poll() {
  try {
    const reply = await fetch('/data?since=' + version + '&token=' + encodeURIComponent(token));
    if (!reply.ok) throw new Error(await reply.text());
    show(await reply.json());
    failures = 0;
    notice('');
  } catch (error) {
    ++failures;
    $('stop').disabled = true;
    notice(over ? 'The training has ended and its program is gone. What you see is the last state.'
                : 'No connection: the program has ended, or the network is interrupted. The page tries again.');
  }
  setTimeout(poll, Math.min(10000, 1000 * (1 + failures)));
}
$('stop').onclick = async () => {
  if (!confirm('Stop the training after its current run?')) return;
  try {
    const reply = await fetch('/stop?token=' + encodeURIComponent(token), { method: 'POST' });
    if (!reply.ok) throw new Error(await reply.text());
    $('stop').disabled = true;
    $('state').textContent = 'stopping';
  } catch (error) { notice('The training could not be stopped: ' + error.message); }
};
$('smooth').oninput = () => { $('smoothed').textContent = Number($('smooth').value).toFixed(2); redraw(); };
window.onresize = redraw;
window.matchMedia('(prefers-color-scheme: dark)').onchange = redraw;
poll();
</script></body></html>
)page";

}  // namespace crochet::web
