import { expect, test } from 'vitest'
import { daysAfter, zoneInEffect } from '../../dashboard/src/lib/time.ts'

test('days are counted by the calendar, over months, years and leap days', () => {
  expect([daysAfter('2026-03-01', -1), daysAfter('2028-03-01', -1), daysAfter('2026-12-31', 1)]).toEqual([
    '2026-02-28',
    '2028-02-29',
    '2027-01-01',
  ])
})

test('a changed time zone is in effect from its time, and the previous one until then', () => {
  const zones = (time_zone_from: string | null) => ({
    time_zone: 'Pacific/Auckland',
    time_zone_from,
    previous_time_zone: time_zone_from && 'Africa/Nairobi',
  })
  const inEffect = ['9999-01-01T00:00:00Z', '2026-01-01T00:00:00Z', null].map((from) => zoneInEffect(zones(from)))
  expect(inEffect).toEqual(['Africa/Nairobi', 'Pacific/Auckland', 'Pacific/Auckland'])
})
