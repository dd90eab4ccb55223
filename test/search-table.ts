/** What a search must find, and what it must not: the same table for every engine (spec: product, "Search"). */
export interface SearchCase {
  says: string
  /** What stands in a task's description. */
  text: string
  query: string
  found: boolean
}

export const SEARCH_TABLE: readonly SearchCase[] = [
  { says: 'case is ignored', text: 'Rotate the CERTIFICATE', query: 'certificate', found: true },
  { says: 'accents in the text are ignored', text: 'El camión azul', query: 'camion', found: true },
  { says: 'accents in the query are ignored', text: 'El camion azul', query: 'CAMIÓN', found: true },
  { says: 'composed and decomposed are one', text: 'cafe\u0301 noir', query: 'caf\u00e9', found: true },
  { says: 'letters with strokes count as plain', text: 'Łódź og Tromsø', query: 'lodz tromso', found: true },
  { says: 'a sharp s is two', text: 'Große Straße', query: 'STRASSE', found: true },
  { says: 'a ligature is its letters', text: 'the ﬁnal draft', query: 'final', found: true },
  { says: 'the beginning of a word', text: 'Deployment plan', query: 'deploy', found: true },
  { says: 'a part of a word from three characters', text: 'Subscription', query: 'scri', found: true },
  { says: 'two letters begin a word', text: 'An apple', query: 'ap', found: true },
  { says: 'two letters inside a word are not looked for', text: 'Grapes', query: 'ap', found: false },
  { says: 'one letter begins a word', text: 'Vitamin k', query: 'k', found: true },
  { says: 'all words must be found', text: 'red and green', query: 'red blue', found: false },
  { says: 'in any order', text: 'red and green', query: 'green red', found: true },
  { says: 'digits', text: 'Invoice 2026-0815', query: '0815', found: true },
  { says: 'a part of a number', text: 'Invoice 20260815', query: '608', found: true },
  { says: 'two characters of Chinese', text: '更新服务器证书', query: '证书', found: true },
  { says: 'more of them', text: '更新服务器证书', query: '服务器', found: true },
  { says: 'Chinese that is not there', text: '更新服务器证书', query: '证件', found: false },
  { says: 'Chinese with digits between', text: '第3章の計画', query: '第3章', found: true },
  { says: 'Japanese kana', text: 'サーバーの再起動', query: 'サーバー', found: true },
  { says: 'Japanese of two scripts', text: '証明書を更新する', query: '更新', found: true },
  { says: 'Korean', text: '인증서를 갱신한다', query: '인증', found: true },
  { says: 'Cyrillic, any case', text: 'Обновить сертификат', query: 'СЕРТИФИКАТ', found: true },
  { says: 'a part of a Cyrillic word', text: 'Обновить сертификат', query: 'тифик', found: true },
  { says: 'Cyrillic й and и', text: 'Краткий обзор', query: 'краткии', found: true },
  {
    says: 'Greek, with accents and the last sigma',
    text: 'Η οδός είναι κλειστή',
    query: 'ΟΔΟΣ',
    found: true,
  },
  { says: 'Greek sigma inside a longer word', text: 'οδοσήμανση', query: 'οδος', found: true },
  { says: 'Arabic', text: 'تجديد الشهادة', query: 'الشهادة', found: true },
  { says: 'Arabic vowel signs are ignored', text: 'كِتَاب', query: 'كتاب', found: true },
  { says: 'Hebrew', text: 'חידוש התעודה', query: 'תעודה', found: true },
  { says: 'Hindi', text: 'प्रमाणपत्र नवीनीकरण', query: 'प्रमाणपत्र', found: true },
  { says: 'Thai, which has no spaces', text: 'ต่ออายุใบรับรอง', query: 'ใบรับรอง', found: true },
  { says: 'Vietnamese', text: 'Gia hạn chứng chỉ', query: 'chung chi', found: true },
  { says: 'an emoji beside a word does no harm', text: 'Party 🎉 at noon', query: '🎉 party', found: true },
  { says: 'a word in quotes', text: 'say hello', query: '"hello"', found: true },
  { says: 'an unclosed quote', text: 'say hello', query: 'hello"', found: true },
  { says: 'a star', text: 'say hello', query: 'hel*', found: true },
  { says: 'a minus', text: 'say hello', query: '-hello', found: true },
  { says: 'brackets', text: 'say hello', query: '(hello OR', found: false },
  { says: 'NEAR is a word', text: 'near the hello', query: 'NEAR(hello)', found: true },
  { says: 'AND is a word too', text: 'say hello', query: 'hello AND say', found: false },
  { says: 'a column filter is words', text: 'text hello', query: 'text:hello', found: true },
  { says: 'an apostrophe', text: 'the server’s log', query: "server's", found: true },
  { says: 'an e-mail address', text: 'Write to ana@example.org', query: 'ana@example.org', found: true },
  { says: 'a path', text: 'See src/store/search.ts', query: 'store/search', found: true },
]
