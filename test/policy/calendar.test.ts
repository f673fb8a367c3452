import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { effectiveTimeZone, isTimeZone, periodsAt, zoneChangesAt } from '../../src/policy/calendar.ts'

const at = (text: string) => new Date(text)
const localText = (text: string, timeZone: string) => {
  const { day, month, dayResetsAt, monthResetsAt } = periodsAt(at(text), timeZone)
  return [day, month, dayResetsAt.toISOString(), monthResetsAt.toISOString()]
}

describe('a day and a month of a time zone', () => {
  test.each([
    [
      'Nairobi: midnight is at 21:00 UTC',
      '2026-03-10T09:00:00.000Z',
      'Africa/Nairobi',
      ['2026-03-10', '2026-03-01', '2026-03-10T21:00:00.000Z', '2026-03-31T21:00:00.000Z'],
    ],
    [
      'the last millisecond of a month',
      '2026-03-31T20:59:59.999Z',
      'Africa/Nairobi',
      ['2026-03-31', '2026-03-01', '2026-03-31T21:00:00.000Z', '2026-03-31T21:00:00.000Z'],
    ],
    [
      'the first instant of the next',
      '2026-03-31T21:00:00.000Z',
      'Africa/Nairobi',
      ['2026-04-01', '2026-04-01', '2026-04-01T21:00:00.000Z', '2026-04-30T21:00:00.000Z'],
    ],
    [
      'the last evening of a year',
      '2026-12-31T12:00:00.000Z',
      'UTC',
      ['2026-12-31', '2026-12-01', '2027-01-01T00:00:00.000Z', '2027-01-01T00:00:00.000Z'],
    ],
    [
      'the leap day',
      '2028-02-29T12:00:00.000Z',
      'UTC',
      ['2028-02-29', '2028-02-01', '2028-03-01T00:00:00.000Z', '2028-03-01T00:00:00.000Z'],
    ],
    [
      'New York: a spring day of 23 hours, in a month that ends by summer time',
      '2026-03-08T05:00:00.000Z',
      'America/New_York',
      ['2026-03-08', '2026-03-01', '2026-03-09T04:00:00.000Z', '2026-04-01T04:00:00.000Z'],
    ],
    [
      'New York: an autumn day of 25 hours',
      '2026-11-01T04:00:00.000Z',
      'America/New_York',
      ['2026-11-01', '2026-11-01', '2026-11-02T05:00:00.000Z', '2026-12-01T05:00:00.000Z'],
    ],
    [
      'Cairo: midnight is skipped, the day begins at 01:00',
      '2024-04-25T12:00:00.000Z',
      'Africa/Cairo',
      ['2024-04-25', '2024-04-01', '2024-04-25T22:00:00.000Z', '2024-04-30T21:00:00.000Z'],
    ],
    [
      'Cairo: the clock goes back at midnight, the old day lasts an hour longer, and so does its month',
      '2024-10-31T12:00:00.000Z',
      'Africa/Cairo',
      ['2024-10-31', '2024-10-01', '2024-10-31T22:00:00.000Z', '2024-10-31T22:00:00.000Z'],
    ],
    [
      'Cairo: within the hour that is repeated it still is the old month',
      '2024-10-31T21:30:00.000Z',
      'Africa/Cairo',
      ['2024-10-31', '2024-10-01', '2024-10-31T22:00:00.000Z', '2024-10-31T22:00:00.000Z'],
    ],
    [
      'São Paulo: midnight is skipped in spring',
      '2018-11-03T15:00:00.000Z',
      'America/Sao_Paulo',
      ['2018-11-03', '2018-11-01', '2018-11-04T03:00:00.000Z', '2018-12-01T02:00:00.000Z'],
    ],
    [
      'São Paulo: and comes twice in autumn',
      '2018-02-17T15:00:00.000Z',
      'America/Sao_Paulo',
      ['2018-02-17', '2018-02-01', '2018-02-18T03:00:00.000Z', '2018-03-01T03:00:00.000Z'],
    ],
    [
      'Apia: the 30th of December 2011 never was',
      '2011-12-30T09:59:59.999Z',
      'Pacific/Apia',
      ['2011-12-29', '2011-12-01', '2011-12-30T10:00:00.000Z', '2011-12-31T10:00:00.000Z'],
    ],
    [
      'Apia: the day after the 29th is the 31st',
      '2011-12-30T10:00:00.000Z',
      'Pacific/Apia',
      ['2011-12-31', '2011-12-01', '2011-12-31T10:00:00.000Z', '2011-12-31T10:00:00.000Z'],
    ],
    [
      "St John's: the clock went back at 00:01, so midnight came first and an old hour after it",
      '2010-11-06T15:00:00.000Z',
      'America/St_Johns',
      ['2010-11-06', '2010-11-01', '2010-11-07T02:30:00.000Z', '2010-12-01T03:30:00.000Z'],
    ],
    [
      'Kathmandu: offsets of quarter hours',
      '2026-03-10T18:14:59.999Z',
      'Asia/Kathmandu',
      ['2026-03-10', '2026-03-01', '2026-03-10T18:15:00.000Z', '2026-03-31T18:15:00.000Z'],
    ],
  ])('%s', (_, instant, timeZone, expected) => {
    expect(localText(instant, timeZone)).toEqual(expected)
  })

  test('a result does not depend on earlier calls', () => {
    const queried = ['2026-03-10T09:00:00Z', '2026-03-10T20:59:59.999Z', '2026-03-10T08:00:00Z', '2026-03-09T21:00:00Z']
    for (const text of queried) expect(localText(text, 'Africa/Nairobi')[2]).toBe('2026-03-10T21:00:00.000Z')
    expect(localText('2026-03-09T20:59:59.999Z', 'Africa/Nairobi')[0]).toBe('2026-03-09')
  })
})

/** The local date computed in another way. */
const localDate = (instant: number, timeZone: string) => {
  const known = second.get(timeZone) ?? new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short' })
  second.set(timeZone, known)
  return known.format(instant)
}
const second = new Map<string, Intl.DateTimeFormat>()

const restless = [
  'Africa/Cairo',
  'Africa/Casablanca',
  'America/Sao_Paulo',
  'America/St_Johns',
  'Asia/Beirut',
  'Pacific/Apia',
  'Asia/Gaza',
]
const timeZone = fc.oneof(fc.constantFrom(...Intl.supportedValuesOf('timeZone')), fc.constantFrom(...restless))
const instants = fc.date({ min: at('1971-01-01T00:00:00Z'), max: at('2099-01-01T00:00:00Z'), noInvalidDate: true })

describe('in every zone at every time', () => {
  test('a day ends where the local date changes, to the millisecond, and so does a month', () => {
    fc.assert(
      fc.property(instants, timeZone, (instant, zone) => {
        const { day, month, dayResetsAt, monthResetsAt } = periodsAt(instant, zone)
        expect(day).toBe(localDate(instant.getTime(), zone))
        expect(month).toBe(`${day.slice(0, 7)}-01`)
        expect(instant < dayResetsAt && dayResetsAt <= monthResetsAt).toBe(true)
        expect(localDate(dayResetsAt.getTime() - 1, zone)).toBe(day)
        expect(localDate(dayResetsAt.getTime(), zone)).not.toBe(day)
        expect(localDate(monthResetsAt.getTime() - 1, zone).slice(0, 7)).toBe(month.slice(0, 7))
        expect(localDate(monthResetsAt.getTime(), zone).slice(0, 7)).not.toBe(month.slice(0, 7))
      }),
      { numRuns: 4000 },
    )
  })

  test('every instant until its reset is in the same day', () => {
    fc.assert(
      fc.property(instants, timeZone, fc.double({ min: 0, max: 1, noNaN: true }), (instant, zone, part) => {
        const { day, dayResetsAt } = periodsAt(instant, zone)
        const length = dayResetsAt.getTime() - instant.getTime() - 1
        expect(localDate(instant.getTime() + Math.floor(length * part), zone)).toBe(day)
      }),
      { numRuns: 2000 },
    )
  })

  test('a change of time zone takes effect in a month that is new in both', () => {
    fc.assert(
      fc.property(instants, timeZone, timeZone, (instant, from, to) => {
        const change = zoneChangesAt(instant, from, to)
        expect(change >= periodsAt(instant, from).monthResetsAt).toBe(true)
        expect(periodsAt(change, to).month > periodsAt(instant, from).month).toBe(true)
        // Between zones more than a day apart, the first of the month occurs twice, and its payments count both times.
        const [before, after] = [periodsAt(new Date(change.getTime() - 1), from), periodsAt(change, to)]
        expect(after.day >= before.day || after.day === after.month).toBe(true)
      }),
      { numRuns: 1000 },
    )
  })
})

describe('a workspace that changes its time zone', () => {
  test('by more than a day has the first of the month twice, and the month once', () => {
    const change = zoneChangesAt(at('2026-06-10T12:00:00Z'), 'Pacific/Kiritimati', 'Pacific/Pago_Pago')
    const before = periodsAt(new Date(change.getTime() - 1), 'Pacific/Kiritimati')
    expect([before.day, periodsAt(change, 'Pacific/Pago_Pago').day]).toEqual(['2026-07-02', '2026-07-01'])
    expect(periodsAt(change, 'Pacific/Pago_Pago').month).toBe(before.month)
  })

  test('to the west keeps the old zone until the new month has begun there too', () => {
    expect(zoneChangesAt(at('2026-06-10T12:00:00Z'), 'Africa/Nairobi', 'America/New_York')).toEqual(at('2026-07-01T04:00:00Z'))
  })

  test('to the east has the new zone from the end of the old month', () => {
    expect(zoneChangesAt(at('2026-06-10T12:00:00Z'), 'Africa/Nairobi', 'Asia/Tokyo')).toEqual(at('2026-06-30T21:00:00Z'))
  })

  test('has the old zone up to the instant of the change, and the new one from it on', () => {
    const schedule = { timeZone: 'Africa/Nairobi', nextTimeZone: 'Asia/Tokyo', nextTimeZoneFrom: at('2026-06-30T21:00:00Z') }
    expect(effectiveTimeZone(schedule, at('2026-06-30T20:59:59.999Z'))).toBe('Africa/Nairobi')
    expect(effectiveTimeZone(schedule, at('2026-06-30T21:00:00Z'))).toBe('Asia/Tokyo')
    expect(effectiveTimeZone({ ...schedule, nextTimeZone: null, nextTimeZoneFrom: null }, at('2030-01-01T00:00:00Z'))).toBe(
      'Africa/Nairobi',
    )
  })
})

describe('names of time zones', () => {
  test.each(['Africa/Nairobi', 'Asia/Kolkata', 'Europe/Kyiv', 'America/Argentina/Buenos_Aires', 'Etc/GMT+3', 'UTC'])(
    '%s is one',
    (name) => {
      expect(isTimeZone(name)).toBe(true)
    },
  )

  test.each(['', 'Nairobi', 'Africa/Nowhere', '+03:00', '-0300', 'Africa/Nairobi ', '../etc/passwd', 'A'.repeat(100)])(
    '%j is none',
    (name) => {
      expect(isTimeZone(name)).toBe(false)
    },
  )
})
