import { runSchemaCommand } from './schema.ts';

process.exitCode = await runSchemaCommand(process.argv.slice(2));
