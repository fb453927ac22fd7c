/** Rules for DDL on distributed tables: what Citus refuses. The rules for queries are in distribution-rules.ts. */
import type { AlterTableCmd, Constraint, Node, RangeVar } from 'libpg-query'
import { DISTRIBUTED_TABLES } from '#src/postgres/citus.ts'
import { as, findAll, nameOf, PLAYER } from './statement-tree.ts'

interface DefinitionRule {
  what: string
  breaks: (node: Node) => boolean
}

const isDistributed = (table: RangeVar | undefined): boolean =>
  (DISTRIBUTED_TABLES as readonly string[]).includes(table?.relname ?? '')

/** Lists the ALTER TABLE commands of a statement on a distributed table. */
function alterations(node: Node): AlterTableCmd[] {
  const altered = as(node, 'AlterTableStmt')
  return isDistributed(altered?.relation) ? (altered?.cmds ?? []).flatMap((one) => as(one, 'AlterTableCmd') ?? []) : []
}

function constraintsOf({ subtype, def }: AlterTableCmd): Constraint[] {
  if (subtype === 'AT_AddConstraint') return [as(def, 'Constraint') ?? []].flat()
  return subtype === 'AT_AddColumn' ? (as(def, 'ColumnDef')?.constraints ?? []).flatMap((one) => as(one, 'Constraint') ?? []) : []
}

export const definitionRules: DefinitionRule[] = [
  {
    what: 'has a unique key without user_id',
    breaks: (node) => {
      const index = as(node, 'IndexStmt')
      const isOfPlayers = index?.indexParams?.some((one) => as(one, 'IndexElem')?.name === PLAYER) ?? false
      const unique = alterations(node)
        .flatMap(constraintsOf)
        .filter(({ contype, indexname }) => /UNIQUE|PRIMARY|EXCLUSION/.test(contype ?? '') && indexname === undefined)
      return (
        (isDistributed(index?.relation) && index?.unique === true && !isOfPlayers) ||
        unique.some(({ keys = [] }) => !keys.some((key) => as(key, 'String')?.sval === PLAYER))
      )
    },
  },
  {
    what: 'has a foreign key between a distributed and a local table',
    breaks: (node) => {
      const altered = as(node, 'AlterTableStmt')
      const foreign = findAll(altered?.cmds, (one) => as(one, 'Constraint')?.contype === 'CONSTR_FOREIGN')
      return foreign.some((one) => isDistributed(as(one, 'Constraint')?.pktable) !== isDistributed(altered?.relation))
    },
  },
  { what: 'creates a trigger on a distributed table', breaks: (node) => isDistributed(as(node, 'CreateTrigStmt')?.relation) },
  {
    what: 'adds an identity or serial column to a distributed table',
    breaks: (node) =>
      alterations(node).some(
        (command) =>
          constraintsOf(command).some(({ contype }) => contype === 'CONSTR_IDENTITY') ||
          /serial/.test(nameOf(as(command.def, 'ColumnDef')?.typeName?.names)),
      ),
  },
  {
    what: 'changes the distribution column',
    breaks: (node) =>
      alterations(node).some(
        ({ subtype, name }) => name === PLAYER && (subtype === 'AT_DropColumn' || subtype === 'AT_AlterColumnType'),
      ),
  },
  {
    what: 'adds a constraint together with another change, or an unnamed check with a column',
    breaks: (node) => {
      const commands = alterations(node)
      return commands.some(
        (one) =>
          (one.subtype === 'AT_AddConstraint' && commands.length > 1) ||
          (one.subtype === 'AT_AddColumn' &&
            constraintsOf(one).some(({ contype, conname }) => contype === 'CONSTR_CHECK' && conname === undefined)),
      )
    },
  },
  {
    what: 'changes a property that Citus does not pass on to shards',
    breaks: (node) =>
      alterations(node).some(({ subtype = '' }) => ['AT_SetStatistics', 'AT_SetStorage', 'AT_AddInherit'].includes(subtype)),
  },
]
