import { useState } from 'react'
import { decidingRoles } from '../../../../src/auth/permissions.ts'
import { usePeople } from '../../api/names.ts'
import { membersQuery, rowsOf } from '../../api/queries.ts'
import { useEvery } from '../../api/use-every.ts'
import { capitalized } from '../../lib/words.ts'
import { CheckField } from '../../ui/field.tsx'
import { tPolicy } from './texts.ts'

type Props = { value: readonly string[]; onChange: (ids: string[]) => void }

/** Chooses the only approvers under a policy, from members who may decide and approvers already named. */
export const ApproversField = ({ value, onChange }: Props) => {
  const people = usePeople()
  const members = useEvery(membersQuery)
  const areAll = members.data !== undefined && !members.hasNextPage
  const able = rowsOf(members)
    .filter(({ role, status }) => status === 'active' && decidingRoles.some((deciding) => deciding === role))
    .map(({ account_id: id }) => id)
  // Keeps the initial approvers, so that a removed one can be chosen again.
  const [before] = useState(value)
  const choices = [...able, ...before.filter((id) => !able.includes(id))]
  return (
    <fieldset className="stack-s">
      <legend>{tPolicy('approvers')}</legend>
      <p className="field-hint">{tPolicy('approvers.hint')}</p>
      {choices.map((id) => (
        <CheckField
          key={id}
          label={capitalized(people(id))}
          hint={!areAll || able.includes(id) ? undefined : tPolicy('approvers.cannot')}
          value={value.includes(id)}
          onChange={(chosen) => onChange(chosen ? [...value, id] : value.filter((other) => other !== id))}
        />
      ))}
    </fieldset>
  )
}
