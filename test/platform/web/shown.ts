/** Returns a page's visible text without times. */
export function shown(html: string): string {
  return html
    .slice(html.indexOf('<main'))
    .replace(/<[^>]*>/g, ' ')
    .replace(/&#39;/g, "'")
    .replace(/&quot;/g, '"')
    .replace(/\s+/g, ' ')
    .replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC (just now|in \d+ \w+|\d+ \w+ ago)/g, 'THEN')
    .replace(/ ([:;.,])/g, '$1');
}
