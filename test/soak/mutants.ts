/** Changes of one line to the decoder's C, each of which breaks a rule. `from` is in the file once. */
export interface Mutant {
  /** The rule that is broken. */
  rule: string;
  file: string;
  from: string;
  to: string;
}

const mutant = (rule: string, file: string, from: string, to: string): Mutant => ({ rule, file, from, to });

export const MUTANTS: readonly Mutant[] = [
  mutant(
    'an escape of a letter has a canonical form',
    'escapes.h',
    "if (at[4] != '0' && at[4] != '1') return reject(at + 4);",
    '',
  ),
  mutant(
    '\\u0008 has a short form',
    'escapes.h',
    "if (at[4] == '0' && has_short_form) return reject(at + 5);",
    "if (at[4] == '2' && has_short_form) return reject(at + 5);",
  ),
  mutant(
    'digits of escapes are lower case',
    'escapes.h',
    "if (!is_digit(last) && !between(last, 'a', 'f'))",
    "if (!is_digit(last) && !between(last | 0x20, 'a', 'f'))",
  ),
  mutant('no lone surrogate, escaped', 'escapes.h', 'if (*point >= 0xdc00) return reject(at);', ''),
  mutant('no overlong UTF-8', 'text.h', 'if (lead == 0xe0) low = 0xa0;', ''),
  mutant('no surrogate in UTF-8', 'text.h', 'if (lead == 0xed) high = 0x9f;', ''),
  mutant('nothing above U+10FFFF', 'text.h', 'if (lead == 0xf4) high = 0x8f;', ''),
  mutant(
    'no control character in a string',
    'text.h',
    'wasm_i8x16_lt(bytes, wasm_i8x16_const_splat(0x20))',
    'wasm_i8x16_lt(bytes, wasm_i8x16_const_splat(0x10))',
  ),
  mutant(
    'no zero ends a fraction',
    'text.h',
    "if (at[-1] == '0' || significant_digits(integer, fraction, at) > 15)",
    'if (significant_digits(integer, fraction, at) > 15)',
  ),
  mutant(
    'at most 15 significant digits',
    'text.h',
    'significant_digits(integer, fraction, at) > 15',
    'significant_digits(integer, fraction, at) > 18',
  ),
  mutant('-0 is written 0', 'text.h', "if (*integer == '0' && integer != start) return reject(start);", ''),
  mutant(
    'integers that a double holds',
    'text.h',
    'if (length != 16) return length < 16;',
    'if (length != 16) return length < 18;',
  ),
  mutant('names sort alike as UTF-8 and UTF-16', 'text.h', 'form.doubles ? 0xed : 0xf4', '0xf4'),
  mutant(
    'white space is four characters',
    'text.h',
    "*at == '\\r' || *at == '\\t'",
    "*at == '\\r' || *at == '\\t' || *at == '\\f'",
  ),
  mutant('no name twice', 'canonical.h', 'if (difference == 0) return false;', ''),
  mutant(
    'no name twice, side by side',
    'canonical.h',
    'name_order(member - 1, member) >= 0',
    'name_order(member - 1, member) > 0',
  ),
  mutant(
    'members in order',
    'canonical.h',
    'name_order(member - 1, member) >= 0',
    'name_order(member - 1, member) > 9999',
  ),
  mutant('spaces are no part of the canonical form', 'canonical.h', 'compact &= next == at;', ''),
  mutant('nesting has an end', 'canonical.h', 'if (depth == max_depth)', 'if (depth == max_depth + 1)'),
  mutant(
    'digests have their prefix',
    'digest-text.h',
    'if (!same(value.at + 1, form->prefix, form->prefix_length)) return 0;',
    '',
  ),
  mutant('padding is padding', 'digest-text.h', "value.at[i] != '='", 'value.at[i] == 0'),
  mutant(
    'entries are of this stream',
    'entry.h',
    '!means(value_of(STREAM_ID), (struct text){stream_id, stream_id_length})',
    'false',
  ),
  mutant(
    'numbers begin where streams do',
    'entry.h',
    'entry->sequence < first_sequence',
    'entry->sequence + 1 < first_sequence',
  ),
  mutant('an id is one', 'entry.h', '!is_id(value_of(ENTRY_ID))', 'is_id(NO_NAME)'),
  mutant(
    'a digest is that of its bytes',
    'kernel.c',
    'if (!same_wide(digits, stated, form->digits) &&',
    'if (digits[0] != stated[0] &&',
  ),
  mutant(
    'seals are checked',
    'kernel.c',
    'if (checks_seals) hold_seals',
    'if (checks_seals && batch_count == 0) hold_seals',
  ),
  mutant(
    'an entry follows the one before it, and no other',
    'entry.h',
    'last_digits && same_wide(entry->previous_digits, last_digits, digest_form.digits)',
    'last_digits != 0',
  ),
  mutant('what is followed is the one before it', 'kernel.c', 'digests + at - bytes, bytes)', 'digests + at, bytes)'),
  mutant('a run follows no other run', 'kernel.c', '  last_digits = 0;\n', ''),
  mutant('seals have their form', 'kernel.c', 'are_digits(&seal_form, seal->stated)', 'true'),
  mutant(
    'what is not hashed is noted',
    'members.h',
    'if (!is_hashed) shape.unhashed',
    'if (!is_hashed && count == 0) shape.unhashed',
  ),
  mutant(
    'a shape is known by whole names',
    'members.h',
    'return a->name.length <= 16 || same(',
    'return true || same(',
  ),
  mutant('the years that leap', 'time.h', 'year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)', 'year % 4 == 0'),
  mutant('hours end at 23', 'time.h', 'hour > 23', 'hour > 24'),
  mutant('boundaries are counted', 'preimage.h', '== step->count) break;', '>= step->count) break;'),
  mutant(
    'a number may go on',
    'preimage.h',
    "if (*starts[step->row] != '-' && !is_digit(*starts[step->row])) break;",
    'break;',
  ),
  mutant(
    'the key of its name',
    'hmac.h',
    'means(value, (struct text){keys->of[i].id, keys->of[i].id_length})',
    'value.length > i',
  ),
];
