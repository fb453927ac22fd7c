/** The reason that a person gave for an act, as the audit's search and its index know it. */

import { MAX_SEARCH_LENGTH } from '@arcade/contract/entity'

/** SQL for the beginning of the reason of an adjustment, a reversal or a block in an audit entry, as far as a search reaches; null for others. */
export const auditReasonSql = `left(coalesce(detail ->> 'reason', changes -> 'blocked' ->> 1), ${MAX_SEARCH_LENGTH})`
