import { useQueryClient } from '@tanstack/react-query'
import { api, call } from '../../api/client.ts'
import { beneficiaryQuery } from '../../api/queries.ts'
import type { Schemas } from '../../api/types.ts'
import { Confirm } from '../../ui/confirm.tsx'

type Beneficiary = Schemas['Beneficiary']
type Props = { beneficiary: Beneficiary; onClose: () => void }

const useKeep = () => {
  const client = useQueryClient()
  return (after: Beneficiary) => void client.setQueryData(beneficiaryQuery(after.id).queryKey, after)
}

export const FreezeBeneficiary = ({ beneficiary: { id, display_name: name, status }, onClose }: Props) => {
  const frozen = status === 'frozen'
  return (
    <Confirm
      title={`${frozen ? 'Unfreeze' : 'Freeze'} ${name}?`}
      action={frozen ? 'Unfreeze' : 'Freeze'}
      harmless={frozen}
      change={() =>
        call(api.PATCH('/v1/beneficiaries/{id}', { params: { path: { id } }, body: { status: frozen ? 'active' : 'frozen' } }))
      }
      announcement={(after) => `${name} ${after.status === 'frozen' ? 'frozen' : 'unfrozen'}`}
      outdates={['beneficiaries']}
      onChanged={useKeep()}
      onClose={onClose}
    >
      <p>
        {frozen
          ? 'Payments to this destination can be made again.'
          : 'No more payments go to this destination until you unfreeze it. Payments already sent still arrive.'}
      </p>
    </Confirm>
  )
}

export const ArchiveBeneficiary = ({ beneficiary: { id, display_name: name }, onClose }: Props) => (
  <Confirm
    title={`Archive ${name}?`}
    action="Archive"
    change={() => call(api.DELETE('/v1/beneficiaries/{id}', { params: { path: { id } } }))}
    announcement={() => `${name} archived`}
    outdates={['beneficiaries']}
    onChanged={useKeep()}
    onClose={onClose}
  >
    <p>It can no longer be paid, and this can’t be undone. Its past payments stay in the list.</p>
  </Confirm>
)
