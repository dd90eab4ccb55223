import { describe, expect, it } from 'vitest'
import { html, own, said } from './html.ts'

describe('markup', () => {
  it('escapes whatever is put in, also within attributes', () => {
    const evil = `"><script>alert('1')</script>&`
    expect(html`<a title="${evil}">${evil}</a>`.markup).toBe(
      '<a title="&quot;&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;">&quot;&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;</a>',
    )
  })

  it('leaves out what is not there, and joins lists', () => {
    expect(html`${null}${undefined}${false}${0}${[own('<b>'), 'a', ['b']]}`.markup).toBe('0<b>ab')
  })

  it('draws characters that hide or turn the text', () => {
    expect(said('pay \u202Edrowssap\u202C').markup).toBe('<bdi>pay ⟨U+202E⟩drowssap⟨U+202C⟩</bdi>')
    for (const hidden of [
      '\u200B',
      '\u00AD',
      '\u2066',
      '\uFEFF',
      '\u0000',
      '\u007F',
      '\u3164',
      '\u{E0041}',
      '\u2028',
      '\uD800',
      '\u200D',
      '\uFE0F',
    ])
      expect(html`a${hidden}b`.markup).toMatch(/^a⟨U\+[0-9A-F]{4,6}⟩b$/)
  })

  it('leaves honest text alone', () => {
    for (const text of ['tab\tand\nline', 'naïve café', '日本語', 'مرحبا', 'می‌خواهم', '👩‍💻 ❤️ 1️⃣', 'क्‍ष'])
      expect(html`${text}`.markup).toBe(text)
  })
})
