/** The words of dates and rules in English, Spanish and French, folded as they are compared. */

/**
 * Lower case, no accents, single spaces, straight apostrophes: the form in which words are compared.
 */
export function foldWords(text: string): string {
  const bare = text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()
  return bare.replace(/[’`´]/g, "'").replace(/\s+/g, ' ').trim()
}

const NUMBERS: Record<string, number> = Object.fromEntries(
  [
    'a an one un una uno une',
    'two dos deux',
    'three tres trois',
    'four cuatro quatre',
    'five cinco cinq',
    'six seis',
    'seven siete sept',
    'eight ocho huit',
    'nine nueve neuf',
    'ten diez dix',
    'eleven once onze',
    'twelve doce douze',
  ].flatMap((names, index) => names.split(' ').map((name) => [name, index + 1])),
)

/** A number in digits or, up to twelve, in words of the three languages, as a pattern and as a value. */
export const NUMBER = `\\d{1,4}|${Object.keys(NUMBERS).join('|')}`
export const numberOf = (word: string): number => NUMBERS[word] ?? Number(word)

export const UNITS = {
  minute: 'minutes?|mins?|minutos?',
  hour: 'hours?|hrs?|horas?|heures?|h',
  day: 'days?|dias?|jours?',
  week: 'weeks?|semanas?|semaines?',
  month: 'months?|mes(?:es)?|mois',
  year: 'years?|anos?|ans?|annees?',
}
export type Unit = keyof typeof UNITS
/** The unit of time that a folded word names, in the three languages. */
export const unitOf = (word: string): Unit | undefined =>
  (Object.keys(UNITS) as Unit[]).find((unit) => new RegExp(`^(?:${UNITS[unit]})$`).test(word))
const WEEKDAYS = [
  'mon(?:day)?|lun(?:es|di)?',
  'tue(?:s|sday)?|martes|mardi',
  'wed(?:nesday)?|mie(?:rcoles)?|mercredi',
  'thu(?:r|rs|rsday)?|jue(?:ves)?|jeudi',
  'fri(?:day)?|vie(?:rnes)?|vendredi',
  'sat(?:urday)?|sab(?:ado)?|samedi|weekend|week-end|fin de semana',
  'sun(?:day)?|dom(?:ingo)?|dimanche',
]
/** A weekday's name or short form in the three languages, folded; a weekend is its Saturday. */
export const WEEKDAY = WEEKDAYS.join('|')
/** 1 (Monday) to 7 (Sunday) for a folded name, 0 if it is none. */
export const weekdayNamed = (name: string) =>
  WEEKDAYS.findIndex((names) => new RegExp(`^(?:${names})s?$`).test(name)) + 1
