import SwaggerParser from '@apidevtools/swagger-parser';

const file = 'openapi.json';
const { paths } = await SwaggerParser.validate(file);
const { openapi } = await SwaggerParser.bundle(file);
const whole = await SwaggerParser.dereference(file);
console.log(openapi, Object.keys(paths).join(' '), JSON.stringify(whole).includes('"$ref"'));
