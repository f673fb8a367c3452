import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodeUuid, encodeUuid, formatId, newId, parseId } from '../../src/lib/ids.ts'

describe('ids', () => {
  test('are UUIDs of version 7 that ascend within one process', () => {
    const ids = Array.from({ length: 20_000 }, newId)
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect([...ids].sort()).toEqual(ids)
    expect(new Set(ids).size).toBe(ids.length)
  })

  test("are encoded as in the TypeID specification's examples", () => {
    const examples = [
      ['00000000-0000-0000-0000-000000000000', '00000000000000000000000000'],
      ['00000000-0000-0000-0000-000000000020', '00000000000000000000000010'],
      ['ffffffff-ffff-ffff-ffff-ffffffffffff', '7zzzzzzzzzzzzzzzzzzzzzzzzz'],
      ['0110c853-1d09-52d8-d73e-1194e95b5f19', '0123456789abcdefghjkmnpqrs'],
      ['01890a5d-ac96-774b-bcce-b302099a8057', '01h455vb4pex5vsknk084sn02q'],
    ] as const
    for (const [uuid, suffix] of examples) expect([encodeUuid(uuid), decodeUuid(suffix)]).toEqual([suffix, uuid])
  })

  test('are decoded to what was encoded', () => {
    fc.assert(
      fc.property(fc.uuid(), (uuid) => {
        expect(parseId('payment', formatId('payment', uuid))).toBe(uuid)
      }),
    )
  })

  test.each([
    '8zzzzzzzzzzzzzzzzzzzzzzzzz',
    '01H455VB4PEX5VSKNK084SN02Q',
    '01h455vb4pex5vsknk084sn02',
    '01h455vb4pex5vsknk084sn02qq',
    '01h455vb4pex5vsknk084sn0iq',
    '01h455vb4pex5vsknk084sn0éq',
    '',
  ])('%s after a prefix is not an id', (suffix) => {
    expect(parseId('payment', `pay_${suffix}`)).toBeUndefined()
  })

  test('with another prefix are refused', () => {
    expect(parseId('payment', formatId('approval', newId()))).toBeUndefined()
    expect(parseId('payment', `payment_${encodeUuid(newId())}`)).toBeUndefined()
  })
})
