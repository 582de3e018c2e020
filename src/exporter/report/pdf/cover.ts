import { grouped, plural } from '../../../core/plurals.ts';
import { drawFact, drawParagraph } from '../../../core/typesetting/blocks.ts';
import type { Color } from '../../../core/typesetting/canvas.ts';
import { ACCENT, GREY, INK, type Setting } from '../../../core/typesetting/setting.ts';
import { CONTENT_WIDTH, LEFT, type Sheet } from '../../../core/typesetting/sheet.ts';
import type { ClaimView } from '../view/claims.ts';
import type { Texts } from '../view/texts.ts';
import type { RunView } from '../view/view.ts';
import { GREEN, OUTCOME_COLORS, PALE, RED, TONES } from './style.ts';

const PADDING = 18;
const TOP_FINDINGS = 4;
const CLAIM_HEIGHT = 43;
const CLAIM_GAP = 4;

/** Draws the first page: organization, period and outcome in prominent words. */
export function drawCover(sheet: Sheet, view: RunView, texts: Texts): void {
  const { regular, bold } = sheet.styles;
  const { run, extent, proof } = view;
  sheet.bookmark(texts.title);
  const label: Setting = { style: bold, size: 8, leading: 10, color: GREY };
  sheet.element('P', () => sheet.flow(texts.title.toUpperCase(), label));
  sheet.y -= 10;
  const title: Setting = { style: bold, size: 24, leading: 30, color: ACCENT };
  sheet.element('H1', () => drawShort(sheet, run.organisation ?? `Run ${run.runId}`, title, 3));
  sheet.y -= 4;
  const subtitle: Setting = { style: regular, size: 11, leading: 15, color: INK };
  sheet.element('P', () => sheet.flow(run.period, subtitle));
  sheet.y -= 20;
  drawOutcome(sheet, view);
  sheet.y -= 24;
  drawReconciliation(sheet, extent);
  sheet.y -= 16;
  drawClaims(sheet, proof);
  sheet.y -= 6;
  drawParagraph(sheet, texts.proves.words, { size: 7.5, leading: 10, color: GREY });
  sheet.y -= 12;
  drawFact(sheet, 'Run', [run.runId], 'mono');
  if (run.request !== null) drawFact(sheet, 'Request', [run.request], 'mono');
  if (run.requestedBy !== null) drawFact(sheet, 'Requested by', [run.requestedBy], 'text');
  if (run.preparedBy !== null) drawFact(sheet, 'Prepared by', [run.preparedBy], 'text');
  drawFact(sheet, run.finalized ? 'Finalized' : 'Attempted', [`${run.finishedAt} (UTC)`], 'text');
  drawFact(sheet, 'Entries', [grouped(extent.entries)], 'text');
  drawFact(sheet, 'Findings', [proof.findings.total === 0 ? 'none' : grouped(proof.findings.total)], 'text');
  if (run.notes.length > 0) drawFact(sheet, 'Notes', run.notes, 'text');
  drawErrors(sheet, proof);
}

function drawShort(sheet: Sheet, text: string, setting: Setting, maxLines: number): void {
  const paragraph = sheet.set(text, setting, CONTENT_WIDTH, maxLines);
  sheet.draw(paragraph, setting, LEFT, sheet.y - setting.size);
  sheet.y -= paragraph.lines.length * setting.leading;
}

/** Draws the outcome of the run on a background in the color of its tone. */
export function drawOutcome(sheet: Sheet, { outcome }: Pick<RunView, 'outcome'>): void {
  const { ground, ink } = TONES[outcome.tone];
  const word: Setting = { style: sheet.styles.bold, size: 26, leading: 33, color: ink };
  const text: Setting = { style: sheet.styles.regular, size: 10.5, leading: 15, color: ink };
  const width = CONTENT_WIDTH - 2 * PADDING;
  const words = sheet.set(outcome.words.join(' · '), word, width);
  const sentences = outcome.sentences.map((sentence) => sheet.set(sentence, text, width));
  const lines = sentences.reduce((sum, paragraph) => sum + paragraph.lines.length, 0);
  const gaps = 5 * (sentences.length - 1);
  const height = 2 * PADDING + words.lines.length * word.leading + lines * text.leading + gaps;
  sheet.box(LEFT, sheet.y - height, CONTENT_WIDTH, height, ground);
  let y = sheet.y - PADDING;
  sheet.element('P', () => sheet.draw(words, word, LEFT + PADDING, y - word.size));
  y -= words.lines.length * word.leading;
  for (const paragraph of sentences) {
    sheet.element('P', () => sheet.draw(paragraph, text, LEFT + PADDING, y - text.size));
    y -= paragraph.lines.length * text.leading + 5;
  }
  sheet.y -= height;
}

/** Draws the sum listed = exported + partial + failed + empty + excluded term by term, for a reader to follow. */
function drawReconciliation(sheet: Sheet, { reconciliation }: RunView['extent']): void {
  const { listed, ...parts } = reconciliation;
  const number: Setting = { style: sheet.styles.bold, size: 16, leading: 20, color: INK };
  const label: Setting = { style: sheet.styles.regular, size: 8, leading: 10, color: GREY };
  const terms = [['listed', listed] as const, ...Object.entries(parts)];
  const step = CONTENT_WIDTH / terms.length;
  sheet.element('P', () =>
    terms.forEach(([name, count], index) => {
      const x = LEFT + index * step;
      const isAmiss = count > 0 && (name === 'partial' || name === 'failed');
      const setting = isAmiss ? { ...number, color: RED } : number;
      const sign = ['', '=', '+', '+', '+', '+'][index] ?? '';
      const signSetting: Setting = { ...number, style: sheet.styles.regular, color: GREY };
      sheet.draw(sheet.set(sign, signSetting, 20), signSetting, x - 20, sheet.y - number.size);
      sheet.draw(sheet.set(grouped(count), setting, step), setting, x, sheet.y - number.size);
      const under = index === 0 ? 'streams listed' : name;
      sheet.draw(sheet.set(under, label, step), label, x, sheet.y - number.size - 14);
    }),
  );
  sheet.y -= 34;
}

/** Draws an overview of the seven claims, so that an unproved claim cannot hide behind the outcome above. */
function drawClaims(sheet: Sheet, { claims }: RunView['proof']): void {
  const name: Setting = { style: sheet.styles.bold, size: 7.5, leading: 10, color: INK };
  const small: Setting = { style: sheet.styles.regular, size: 7.5, leading: 10, color: GREY };
  const step = (CONTENT_WIDTH + CLAIM_GAP) / claims.length;
  const width = step - CLAIM_GAP;
  claims.forEach((claim, index) => {
    const x = LEFT + index * step;
    const [ground, ink] = groundOf(claim);
    sheet.box(x, sheet.y - CLAIM_HEIGHT, width, CLAIM_HEIGHT, ground);
    const middle = x + width / 2;
    const share = `${grouped(claim.proved)} of ${grouped(claim.of)}`;
    const under = claim.refuted > 0 ? `${grouped(claim.refuted)} refuted` : 'proved';
    sheet.element('P', () => {
      sheet.draw(sheet.set(claim.name, name, width, 1), name, middle, sheet.y - 13, 'centre');
      sheet.draw(sheet.set(share, small, width, 1), { ...small, color: ink }, middle, sheet.y - 25, 'centre');
      sheet.draw(sheet.set(under, small, width, 1), { ...small, color: ink }, middle, sheet.y - 35, 'centre');
    });
  });
  sheet.y -= CLAIM_HEIGHT;
}

function groundOf({ proved, refuted, of }: ClaimView): readonly [Color, Color] {
  if (refuted > 0) return [OUTCOME_COLORS.refuted.ground, RED];
  return proved === of && of > 0 ? [OUTCOME_COLORS.verified.ground, GREEN] : [PALE, GREY];
}

/** Draws the most severe findings on the first page. */
function drawErrors(sheet: Sheet, { findings }: RunView['proof']): void {
  const errors = findings.groups.filter(({ severity }) => severity === 'error').slice(0, TOP_FINDINGS);
  if (errors.length === 0) return;
  sheet.y -= 10;
  const setting: Setting = { style: sheet.styles.regular, size: 9, leading: 12.5, color: INK };
  for (const { code, meaning, streams } of errors) {
    sheet.makeRoom(40);
    sheet.element('P', () => {
      sheet.flow(`${code} · ${plural(streams, 'stream')}`, { ...setting, style: sheet.styles.bold, color: RED });
      sheet.flow(meaning, setting);
    });
    sheet.y -= 5;
  }
}
