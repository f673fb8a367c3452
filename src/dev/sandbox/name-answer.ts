import type { RailName } from '../../lib/rail-names.ts'
import { disturbed, type Names } from './names.ts'
import type { Rules } from './rules.ts'

/** The name that the provider gives; null where the number has no holder. `cut`: the connection is reset, or the answer comes late. */
export const nameOf = (
  provider: { rules: Rules; names: Names },
  rail: RailName,
  party: string,
): { name: string | null; lost: boolean; delayMs: number } => {
  const rule = provider.rules.forName({ rail, party })
  const fault = rule?.effect ?? provider.names.faultOf(party)
  const holder = provider.names.of(party)
  return {
    name: holder === null && fault !== 'name_ok' && fault !== 'name_other' ? null : disturbed(holder ?? '', fault),
    lost: fault === 'name_outage',
    delayMs: rule?.effect === 'name_late' ? rule.delay_ms : 0,
  }
}
