import { Badge } from '../../ui/status.tsx'
import { useIsFrozen } from './use-frozen.ts'

type By = Parameters<typeof useIsFrozen>[0]

/** Stands beside the name of an agent that can't move money now. */
export const FrozenBadge = ({ by }: { by: By }) => useIsFrozen(by) && <Badge tone="info">Frozen</Badge>
