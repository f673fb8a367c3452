import { useInfiniteQuery } from '@tanstack/react-query'
import { decidingRoles } from '../../../../src/auth/permissions.ts'
import { usePeople } from '../../api/names.ts'
import { membersQuery, rowsOf } from '../../api/queries.ts'
import { CheckField } from '../../ui/field.tsx'

type Props = { value: readonly string[]; onChange: (ids: string[]) => void }

/** Who alone approves payments under a policy: members who may decide, and those whom it names already. */
export const ApproversField = ({ value, onChange }: Props) => {
  const people = usePeople()
  const members = rowsOf(useInfiniteQuery(membersQuery))
  const able = members
    .filter(({ role, status }) => status === 'active' && decidingRoles.some((deciding) => deciding === role))
    .map(({ account_id: id }) => id)
  const choices = [...able, ...value.filter((id) => !able.includes(id))]
  return (
    <fieldset className="stack-s">
      <legend>Only these people approve</legend>
      <p className="field-hint">
        Select no one to let every approver decide. Otherwise only the people you select can decide, and an owner only if
        selected.
      </p>
      {choices.map((id) => (
        <CheckField
          key={id}
          label={people(id)}
          hint={able.includes(id) ? undefined : 'Can’t decide now.'}
          value={value.includes(id)}
          onChange={(chosen) => onChange(chosen ? [...value, id] : value.filter((other) => other !== id))}
        />
      ))}
    </fieldset>
  )
}
