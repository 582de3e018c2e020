import { type Markup, markup } from '../../../core/html/markup.ts';
import type { Texts } from '../view/texts.ts';
import type { RunView } from '../view/view.ts';

/** The area to drop bundles on. The page's program says the result; it is told which run this is. */
export function verification({ run: { runId } }: RunView, { browser }: Texts): Markup {
  return markup`<p>${browser.introduction}</p>
<ul>
${browser.limits.map((limit) => markup`<li>${limit}</li>\n`)}</ul>
<noscript><p class="refuted">${browser.no_script}</p></noscript>
<div id="drop" class="drop" data-run="${runId}" hidden><label for="files"><b>Drop bundles here</b>, or choose them</label><input type="file" id="files" multiple accept=".zip,application/zip"></div>
<output id="said" role="status" aria-live="polite" class="minor"></output>
<div id="results"></div>
`;
}
