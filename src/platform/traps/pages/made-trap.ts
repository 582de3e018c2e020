import { type Markup, markup, name } from '../../../core/html/markup.ts';
import type { Json } from '../../../core/json/canonical.ts';
import { copyable, factList, link } from '../../web/components.ts';
import type { PageView } from '../../web/layout.ts';
import type { WireMadeTrap } from '../wire.ts';
import { channelTable } from './channel-table.ts';
import { ABOVE_CREDENTIALS, trapPath } from './paths.ts';

/** Returns the only page that shows the secret of a new trap. */
export function madeTrapPage(made: WireMadeTrap, now: Date): PageView {
  const { credential_id, label, artifact, credential } = made;
  return {
    title: 'The new trap',
    above: [...ABOVE_CREDENTIALS, { title: label, path: trapPath(credential_id) }],
    introduction: markup`${name(label)} is now a trap. Copy the credential now: it cannot be shown again.`,
    content: markup`<h2>What to plant</h2>
<p>${artifact.instructions}</p>
<p>File <code>${name(artifact.filename)}</code></p>
<div class="secret">${copyable('artifact', 'What to plant', artifact.content)}</div>
<h2>Parts</h2>
${factList(Object.entries(credential).map(([part, value]) => [part, partOf(value)] as const))}
<h2>Detection channels</h2>
${channelTable(made, now)}
<h2>Next steps</h2>
<ol class="steps">
<li>Plant it where an intruder would look.</li>
<li>${link(trapPath(credential_id, 'confirm'), 'Confirm that it is planted')}: detections then show the earliest time of the leak.</li>
<li>${link(trapPath(credential_id, 'test'), 'Test it')}: a marked use proves that the channels detect uses.</li>
</ol>
<p class="further">${link(trapPath(credential_id), 'I have saved it')}</p>`,
  };
}

function partOf(value: Json): Markup {
  if (value === null) return markup`<span class="minor">none</span>`;
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  return text.includes('\n') ? markup`<pre>${text}</pre>` : markup`<code>${name(text)}</code>`;
}
