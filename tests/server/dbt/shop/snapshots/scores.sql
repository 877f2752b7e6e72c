{% snapshot scores_snapshot %}{{ config(target_schema='shop', unique_key='id', strategy='check', check_cols=['score'], file_format='delta') }} select * from {{ ref('scores') }}{% endsnapshot %}
