import { inflateSync } from 'node:zlib'

const numberOf = (dictionary: string, name: string): string => new RegExp(`/${name} (\\d+)`).exec(dictionary)?.[1] ?? ''

/** The objects of a PDF as Chromium prints it: dictionaries by number, with their streams unpacked. */
const objectsOf = (pdf: Buffer): Map<string, { dictionary: string; stream: string }> => {
  const raw = pdf.toString('latin1')
  return new Map(
    [...raw.matchAll(/(\d+) 0 obj\b([\s\S]*?)(?:stream\r?\n|endobj)/g)].map((found) => {
      const [all, id = '', dictionary = ''] = found
      const from = found.index + all.length
      const packed = pdf.subarray(from, from + Number(numberOf(dictionary, 'Length')))
      const stream = all.endsWith('endobj') || !dictionary.includes('/FlateDecode') ? '' : inflateSync(packed).toString('latin1')
      return [id, { dictionary, stream }]
    }),
  )
}

/** The character of each glyph of a font. */
const glyphsOf = (table: string): Map<number, string> => {
  const glyphs = new Map<number, string>()
  for (const [, block = ''] of table.matchAll(/beginbfchar([\s\S]*?)endbfchar/g))
    for (const [, glyph = '', code = ''] of block.matchAll(/<(\w+)> <(\w+)>/g))
      glyphs.set(Number.parseInt(glyph, 16), String.fromCharCode(Number.parseInt(code, 16)))
  for (const [, block = ''] of table.matchAll(/beginbfrange([\s\S]*?)endbfrange/g))
    for (const [, first = '', last = '', code = ''] of block.matchAll(/<(\w+)> <(\w+)> <(\w+)>/g)) {
      const start = Number.parseInt(first, 16)
      for (let glyph = start; glyph <= Number.parseInt(last, 16); glyph += 1)
        glyphs.set(glyph, String.fromCharCode(Number.parseInt(code, 16) + glyph - start))
    }
  return glyphs
}

/** The text of each page of a PDF that Chromium printed. */
export const pagesOfPdf = (pdf: Buffer): string[] => {
  const objects = objectsOf(pdf)
  const pages = [...objects.values()].filter(({ dictionary }) => /\/Type \/Page\b/.test(dictionary))
  return pages.map(({ dictionary }) => {
    const listed = /\/Font <<([\s\S]*?)>>/.exec(dictionary)?.[1] ?? ''
    const fonts = new Map(
      [...listed.matchAll(/\/(\w+) (\d+) 0 R/g)].map(([, name, id = '']) => [
        name,
        glyphsOf(objects.get(numberOf(objects.get(id)?.dictionary ?? '', 'ToUnicode'))?.stream ?? ''),
      ]),
    )
    let font: Map<number, string> | undefined
    let text = ''
    const { stream = '' } = objects.get(numberOf(dictionary, 'Contents')) ?? {}
    for (const [, name, glyphs = ''] of stream.matchAll(/\/(\w+) [\d.]+ Tf|<([0-9A-Fa-f]+)>/g)) {
      if (name) font = fonts.get(name)
      for (const glyph of glyphs.match(/.{4}/g) ?? []) text += font?.get(Number.parseInt(glyph, 16)) ?? ''
    }
    return text
  })
}
